/** Schemas and values made to be expensive: what each is, and how it has to end. */

export interface HostileCase {
  readonly name: string;
  readonly schema: unknown;
  readonly value: unknown;
  /** A code of refusal, or the verdict about the value. */
  readonly expected: string;
}

const deepSchema = (levels: number): unknown => {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { type: "object", properties: { n: schema } };
  return schema;
};

const deepValue = (levels: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { n: value };
  return value;
};

const doubling = (levels: number): unknown => {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let level = 1; level <= levels; level += 1) {
    $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
  }
  return { $ref: `#/$defs/d${levels}`, $defs };
};

const deepAnyOf = (levels: number): unknown => {
  let schema: unknown = { type: "object", required: ["x"] };
  for (let level = 0; level < levels; level += 1) schema = { anyOf: [schema, schema] };
  return schema;
};

const thinAnyOf = (levels: number): unknown => {
  let schema: unknown = { required: ["x"] };
  for (let level = 0; level < levels; level += 1) schema = { anyOf: [schema, { type: "string" }] };
  return schema;
};

/** Each level of the value doubles the work, each schema alone is small. */
const branching: unknown = {
  $defs: {
    node: {
      minProperties: 1,
      anyOf: [
        { properties: { n: { $ref: "#/$defs/node" } } },
        { properties: { n: { $ref: "#/$defs/node" } } },
      ],
    },
  },
  $ref: "#/$defs/node",
};

const text = (pattern: string): unknown => ({ type: "string", pattern });

export const hostileCases: readonly HostileCase[] = [
  { name: "^(a+)+$", schema: text("^(a+)+$"), value: `${"a".repeat(40)}!`, expected: "invalid" },
  { name: "^(a+)+$, long", schema: text("^(a+)+$"), value: `${"a".repeat(50_000)}!`, expected: "invalid" },
  { name: "^(a|aa)+$", schema: text("^(a|aa)+$"), value: `${"a".repeat(40)}!`, expected: "invalid" },
  {
    name: "mail-like",
    schema: text("^(([a-z])+.)+[A-Z]([a-z])+$"),
    value: `${"a".repeat(40)}!`,
    expected: "invalid",
  },
  { name: "^(.*a){20}$", schema: text("^(.*a){20}$"), value: `${"a".repeat(40)}!`, expected: "invalid" },
  { name: "polynomial", schema: text("\\s+$"), value: `${" ".repeat(100_000)}x`, expected: "invalid" },
  {
    name: "huge repeat",
    schema: text("^(a{1,1000}){1,1000}$"),
    value: `${"a".repeat(40)}!`,
    expected: "valid",
  },
  {
    name: "states that explode",
    schema: text("(?:a|b)*a(?:a|b){100}[cd]"),
    value: "abbabaab".repeat(2_500),
    expected: "budget",
  },
  {
    name: "huge alternation",
    schema: text(Array.from({ length: 900 }, (_, at) => `w${at}[ab]{0,9}`).join("|")),
    value: "x",
    expected: "valid",
  },
  { name: "2^40 references", schema: doubling(40), value: "x", expected: "too_complex" },
  { name: "$ref to itself", schema: { $ref: "#" }, value: 1, expected: "cyclic_ref" },
  {
    name: "references in a ring",
    schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }] } } },
    value: 1,
    expected: "cyclic_ref",
  },
  { name: "5,000 deep", schema: deepSchema(5_000), value: {}, expected: "too_deep" },
  { name: "remote $ref", schema: { $ref: "http://127.0.0.1:1/x.json" }, value: 1, expected: "remote_ref" },
  {
    name: "file $ref",
    schema: { properties: { a: { $ref: "file:///etc/passwd" } } },
    value: {},
    expected: "remote_ref",
  },
  {
    name: "uniqueItems, 20,000 objects",
    schema: { type: "array", uniqueItems: true },
    value: Array.from({ length: 20_000 }, (_, at) => ({ at, s: "x".repeat(20) })),
    expected: "valid",
  },
  {
    name: "uniqueItems, large equal items",
    schema: { type: "array", uniqueItems: true },
    value: Array.from({ length: 2_000 }, (_, at) => ({ list: Array.from({ length: 200 }, () => 1), at })),
    expected: "budget",
  },
  {
    name: "5,000 properties",
    schema: {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, {}])),
    },
    value: { p4999: 1 },
    expected: "valid",
  },
  {
    name: "64 KiB enum",
    schema: { enum: Array.from({ length: 6_000 }, (_, at) => `v${at}`) },
    value: "v6001",
    expected: "invalid",
  },
  { name: "wide and deep anyOf", schema: deepAnyOf(9), value: {}, expected: "invalid" },
  { name: "too wide and deep anyOf", schema: deepAnyOf(16), value: {}, expected: "too_large" },
  { name: "thin and deep anyOf", schema: thinAnyOf(60), value: {}, expected: "invalid" },
  { name: "anyOf at every level of the value", schema: branching, value: deepValue(60), expected: "budget" },
  {
    name: "recursive $ref over a deep value",
    schema: { properties: { n: { $ref: "#" } } },
    value: deepValue(20_000),
    expected: "budget",
  },
  {
    name: "a million values",
    schema: { type: "array", items: { type: "array", items: { type: "integer" } } },
    value: Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, () => 1)),
    expected: "budget",
  },
  {
    name: "many patterns over many names",
    schema: {
      patternProperties: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`(a|b)+${at}`, {}])),
    },
    value: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`${"ab".repeat(20)}${at}x`, 1])),
    expected: "budget",
  },
  {
    name: "unevaluatedProperties over wide alternatives",
    schema: {
      anyOf: Array.from({ length: 300 }, (_, at) => ({ properties: { [`p${at}`]: true } })),
      unevaluatedProperties: false,
    },
    value: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`q${at}`, 1])),
    expected: "budget",
  },
];
