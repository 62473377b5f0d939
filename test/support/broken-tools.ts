/** Tool definitions that are wrong, each in its own way: name, definition, and the code it has to be quarantined with. */

export interface BrokenTool {
  readonly what: string;
  readonly definition: unknown;
  readonly code: string;
}

const ok = { type: "object", properties: { q: { type: "string" } } };

function deep(levels: number): unknown {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { type: "object", properties: { n: schema } };
  return schema;
}

function bomb(): unknown {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let level = 1; level <= 40; level += 1) {
    $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
  }
  return { type: "object", properties: { x: { $ref: "#/$defs/d40" } }, $defs };
}

/** @param at makes the names of one round differ from those of another. */
export function brokenTools(at: number): readonly BrokenTool[] {
  const named = (name: unknown, inputSchema: unknown, more: object = {}): unknown => ({
    name,
    inputSchema,
    ...more,
  });
  const schema = (what: string, inputSchema: unknown): BrokenTool => {
    return { what, definition: named(`${what} ${at}`, inputSchema), code: "bad_schema" };
  };
  const property = (what: string, member: unknown): BrokenTool =>
    schema(what, { type: "object", properties: { q: member } });
  const annotated = (what: string, header: unknown, type: unknown = "string"): BrokenTool => ({
    what,
    definition: named(`${what} ${at}`, {
      type: "object",
      properties: { q: { type, "x-mcp-header": header } },
    }),
    code: "bad_header_annotation",
  });
  return [
    { what: "null", definition: null, code: "not_an_object" },
    { what: "a string", definition: "tool", code: "not_an_object" },
    { what: "a number", definition: 7, code: "not_an_object" },
    { what: "a list", definition: [], code: "not_an_object" },
    { what: "no name", definition: { inputSchema: ok }, code: "bad_name" },
    { what: "a number as name", definition: named(42, ok), code: "bad_name" },
    { what: "null as name", definition: named(null, ok), code: "bad_name" },
    { what: "an empty name", definition: named("", ok), code: "bad_name" },
    { what: "a name of 600 characters", definition: named(`${"n".repeat(600)}${at}`, ok), code: "bad_name" },
    { what: "a line end in the name", definition: named(`cr\r\nInjected: ${at}`, ok), code: "bad_name" },
    { what: "a NUL in the name", definition: named(`nul\u0000${at}`, ok), code: "bad_name" },
    { what: "half a character in the name", definition: named(`\ud800${at}`, ok), code: "bad_name" },
    {
      what: "description: a number",
      definition: named(`dn ${at}`, ok, { description: 42 }),
      code: "bad_definition",
    },
    {
      what: "description: a list",
      definition: named(`dl ${at}`, ok, { description: [] }),
      code: "bad_definition",
    },
    { what: "title: an object", definition: named(`to ${at}`, ok, { title: {} }), code: "bad_definition" },
    {
      what: "annotations: a list",
      definition: named(`al ${at}`, ok, { annotations: [] }),
      code: "bad_definition",
    },
    {
      what: "annotations: a string",
      definition: named(`as ${at}`, ok, { annotations: "readOnly" }),
      code: "bad_definition",
    },
    {
      what: "too large",
      definition: named(`big ${at}`, ok, { description: "x".repeat(300_000) }),
      code: "limit",
    },
    { what: "too deep", definition: named(`deep ${at}`, deep(400)), code: "limit" },
    schema("schema missing", undefined),
    schema("schema null", null),
    schema("schema a string", "object"),
    schema("schema a list", []),
    schema("schema true", true),
    schema("root a string", { type: "string" }),
    schema("root a list of types", { type: ["object", "null"] }),
    schema("properties a list", { type: "object", properties: ["q"] }),
    schema("properties null", { type: "object", properties: null }),
    schema("required a string", { ...ok, required: "q" }),
    schema("required numbers", { ...ok, required: [1] }),
    property("required inside", { type: "string", required: true }),
    property("unknown type", { type: "str" }),
    property("type any", { type: "any" }),
    property("type a number", { type: 3 }),
    property("types empty", { type: [] }),
    property("a property that is a string", "string"),
    property("a property that is null", null),
    property("minimum a string", { type: "number", minimum: "1" }),
    property("minLength negative", { type: "string", minLength: -1 }),
    property("maxItems a fraction", { type: "array", maxItems: 1.5 }),
    property("multipleOf zero", { type: "number", multipleOf: 0 }),
    property("exclusiveMinimum true", { type: "number", minimum: 1, exclusiveMinimum: true }),
    property("enum an object", { enum: {} }),
    property("anyOf empty", { anyOf: [] }),
    property("allOf an object", { allOf: {} }),
    property("pattern a number", { pattern: 5 }),
    property("uniqueItems a string", { type: "array", uniqueItems: "yes" }),
    property("dangling reference", { $ref: "#/$defs/Missing" }),
    property("dangling anchor", { $ref: "#nowhere" }),
    property("file reference", { $ref: "./other.json#/x" }),
    property("remote reference", { $ref: "http://127.0.0.1:9/x.json" }),
    property("reference a number", { $ref: 5 }),
    property("an unenforceable pattern under not", { not: { pattern: "(a)\\1" } }),
    schema("alias of itself", {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { $ref: "#/$defs/A" } },
    }),
    schema("ring of aliases", {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { allOf: [{ $ref: "#/$defs/B" }] }, B: { anyOf: [{ $ref: "#/$defs/A" }] } },
    }),
    schema("a bomb of references", bomb()),
    schema("80 levels", deep(80)),
    schema("a schema of 70 KiB", { ...ok, description: "x".repeat(70_000) }),
    schema("$schema a number", { ...ok, $schema: 7 }),
    annotated("header empty", ""),
    annotated("header with a blank", "a b"),
    annotated("header on an object", "Ok", "object"),
  ];
}
