/**
 * `x-mcp-header`: which arguments of a tool travel as headers, read once from its input schema, or why the tool may not be
 * offered over HTTP. Source: transports/streamable-http#schema-extension.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";

/** One annotated property: the header `Mcp-Param-{header}` repeats the argument at `path`. */
interface HeaderPlanEntry {
  readonly header: string;
  /** The chain of `properties` keys from the root of the arguments. */
  readonly path: readonly string[];
}

export type HeaderPlan = readonly HeaderPlanEntry[];

export type HeaderPlanVerdict =
  | { readonly ok: true; readonly plan: HeaderPlan }
  /** `where` is a JSON pointer into the schema. */
  | { readonly ok: false; readonly where: string; readonly reason: string };

const ANNOTATION = "x-mcp-header";
/** RFC 9110 `token`. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Members of a schema whose value is data, not a schema: an annotation look-alike in there means nothing. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "required"]);
const MAX_NODES = 20_000;
const MAX_DEPTH = 64;
const MAX_HEADERS = 64;

/** Reads the annotations of an input schema. One invalid annotation makes the whole tool unusable over HTTP. */
export function readHeaderPlan(inputSchema: JsonObject): HeaderPlanVerdict {
  const plan: HeaderPlanEntry[] = [];
  const seen = new Set<string>();
  let nodes = 0;
  let refusal: { where: string; reason: string } | undefined;

  const refuse = (where: string, reason: string): void => {
    refusal ??= { where, reason };
  };

  const readAnnotation = (
    schema: JsonObject,
    header: JsonValue | undefined,
    path: readonly string[] | undefined,
    where: string,
  ): void => {
    if (typeof header !== "string" || header === "")
      return refuse(where, "the header name is empty or no string");
    if (!TOKEN.test(header)) return refuse(where, "the header name is no RFC 9110 token");
    if (path === undefined || path.length === 0)
      return refuse(where, "the property is not reached by `properties` alone");
    if (!MIRRORED_TYPES.has(ownProperty(schema, "type")))
      return refuse(where, "the type is not string, integer or boolean");
    if (seen.has(header.toLowerCase())) return refuse(where, "the header name is used twice");
    if (plan.length >= MAX_HEADERS) return refuse(where, `more than ${MAX_HEADERS} headers`);
    seen.add(header.toLowerCase());
    plan.push({ header, path });
  };

  /** `path` is undefined below anything but `properties`: an annotation there is not statically reachable. */
  const visit = (
    node: JsonValue | undefined,
    path: readonly string[] | undefined,
    where: string,
    depth: number,
  ): void => {
    if (refusal !== undefined || typeof node !== "object" || node === null) return;
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH)
      return refuse(where, "the schema is too large or too deep to be read for headers");
    if (Array.isArray(node)) {
      node.forEach((item, index) => visit(item, undefined, `${where}/${index}`, depth + 1));
      return;
    }
    if (Object.hasOwn(node, ANNOTATION))
      readAnnotation(node, node[ANNOTATION], path, where === "" ? "/" : where);
    for (const keyword of Object.keys(node)) {
      if (DATA_KEYWORDS.has(keyword)) continue;
      const member = node[keyword];
      if (keyword === "properties" && isJsonObject(member)) {
        for (const name of Object.keys(member)) {
          visit(
            member[name],
            path === undefined ? undefined : [...path, name],
            `${where}/properties/${pointer(name)}`,
            depth + 1,
          );
        }
      } else {
        visit(member, undefined, `${where}/${pointer(keyword)}`, depth + 1);
      }
    }
  };

  visit(inputSchema, [], "", 0);
  return refusal === undefined ? { ok: true, plan } : { ok: false, ...refusal };
}

function pointer(name: string): string {
  return name.slice(0, 80).replaceAll("~", "~0").replaceAll("/", "~1");
}
