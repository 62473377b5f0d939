/**
 * MySQL and SQLite statements, on an optional parser (sqlparser, WebAssembly) that is not the server's own. So everything
 * that such a parser and the server could read differently is refused before it is asked: block comments, odd white space,
 * lone carriage returns, dollar quotes. What its tree holds beyond a plain SELECT is refused by kind and by member.
 */
import type * as Sqlparser from "@guanmingchiu/sqlparser-ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { SqlReading } from "./sql.ts";
import {
  MYSQL_FUNCTIONS,
  MYSQL_SCHEMA_TABLES,
  SQLITE_FUNCTIONS,
  SQLITE_SYSTEM_TABLES,
  SQLITE_TABLE_FUNCTIONS,
} from "./sql-other-names.ts";

type OtherDialect = "mysql" | "sqlite";

const DISAGREED: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /\/\*/, what: "block comments (some are run)" },
  {
    pattern: /[\u0085\u00A0\u1680\u2000-\u200F\u2028\u2029\u202F\u205F\u3000\uFEFF]/,
    what: "white space outside ASCII",
  },
  { pattern: /\r(?!\n)/, what: "carriage returns without a line end" },
  { pattern: /\$\w*\$/, what: "dollar quotes" },
];

const NODES = new Set(
  `BinaryOp Boolean Case Cast Ceil Collate CompoundIdentifier Convert CrossJoin CurrentRow Derived DoubleQuotedString Exists Expr
  ExprWithAlias Expressions Extract Floor Following Function HexStringLiteral Identifier InList InSubquery Inner Interval
  IsDistinctFrom IsFalse IsNotDistinctFrom IsNotFalse IsNotNull IsNotTrue IsNotUnknown IsNull IsTrue IsUnknown Join Left
  LeftOuter Like LimitOffset List MatchAgainst MemberOf Named NamedWindow NationalStringLiteral Nested NestedJoin Number
  ObjectName OffsetCommaLimit On OrderBy Position Preceding Prefixed QualifiedWildcard Query RLike Right RightOuter Select Separator
  SetOperation SingleQuotedByteStringLiteral SingleQuotedString StraightJoin Subquery Substring Table Trim Tuple TypedString
  UnaryOp Unnamed UnnamedExpr Using Value Values Wildcard WindowSpec Between AnyOp AllOp Placeholder Limit`.split(
    /\s+/,
  ),
);

/** Members of a query or a SELECT that a plain read has; every other one must be empty. */
const QUERY_MEMBERS = new Set(["with", "body", "order_by", "limit_clause"]);
const SELECT_MEMBERS = new Set(
  `select_token distinct projection from selection group_by having named_window window_before_qualify flavor top_before_distinct`.split(
    /\s+/,
  ),
);

/** Where names of types and positions stand: nothing in there is run. */
const NOT_WALKED = new Set(["span", "data_type"]);

/** @throws Error where the parser is not installed: the guard has then failed, which denies. */
export async function readOtherSql(sql: string, dialect: OtherDialect, maxRows: number): Promise<SqlReading> {
  const disagreed = DISAGREED.find(({ pattern }) => pattern.test(sql));
  if (disagreed !== undefined) return denied(`it holds ${disagreed.what}, which parsers read differently`);
  const parser = await loadParser(dialect);
  const parse = (text: string): readonly JsonValue[] | string => {
    try {
      return parser.parse(text, dialect) as unknown as JsonValue[];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const statements = parse(sql);
  if (typeof statements === "string")
    return denied(`it is not valid ${dialect}, or the parser does not know it: ${statements.slice(0, 200)}`);
  if (statements.length !== 1)
    return denied(
      statements.length === 0 ? "it holds no statement" : `it holds ${statements.length} statements`,
    );
  const query = queryOf(statements);
  if (query === null) return denied("it is not a SELECT");
  const fault = findFault(statements[0] ?? null, dialect);
  if (fault !== null) return denied(fault);
  if (hasCap(query, maxRows)) return { kind: "reads", capped: sql };

  const text = sql.trimEnd().replace(/;$/, "");
  // A bare VALUES takes no limit of its own in SQLite.
  const isWrapped =
    query["limit_clause"] != null || (isJsonObject(query["body"]) && Object.hasOwn(query["body"], "Values"));
  const capped = isWrapped ? `SELECT * FROM (${text}\n) AS q LIMIT ${maxRows}` : `${text}\nLIMIT ${maxRows}`;
  const again = parse(capped);
  const after = typeof again === "string" ? null : queryOf(again);
  if (after === null || !hasCap(after, maxRows) || !isSameRead(after, query, isWrapped)) {
    return denied("a row limit cannot be put in: give one of your own, without a semicolon behind it");
  }
  return { kind: "reads", capped };
}

async function loadParser(dialect: OtherDialect): Promise<typeof Sqlparser> {
  const parser = await import("@guanmingchiu/sqlparser-ts").catch((error: unknown) => {
    throw new Error(`the parser for ${dialect} is not installed (npm install @guanmingchiu/sqlparser-ts)`, {
      cause: error,
    });
  });
  await parser.init();
  return parser;
}

function denied(reason: string): SqlReading {
  return { kind: "denied", reason };
}

function queryOf(statements: readonly JsonValue[]): JsonObject | null {
  const [statement] = statements;
  const query = statements.length === 1 && isJsonObject(statement) ? statement["Query"] : undefined;
  return isJsonObject(query) ? query : null;
}

/** Walks the whole tree without recursion: its depth is the writer's choice. */
function findFault(root: JsonValue, dialect: OtherDialect): string | null {
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value);
    if (!isJsonObject(value)) continue;
    const queryFault = findQueryFault(value);
    if (queryFault !== null) return queryFault;
    for (const [name, member] of Object.entries(value)) {
      if (NOT_WALKED.has(name) || name.endsWith("_token")) continue;
      const fault = findMemberFault(name, member, dialect);
      if (fault !== null) return fault;
      if (typeof member === "object" && member !== null) waiting.push(member);
    }
  }
  return null;
}

/** A query stands by itself in many places (subqueries, `WITH`), so it is known by its members. */
function findQueryFault(value: JsonObject): string | null {
  if (!Object.hasOwn(value, "body") || !Object.hasOwn(value, "locks")) return null;
  return findExtra(value, QUERY_MEMBERS);
}

function findExtra(value: JsonObject, known: ReadonlySet<string>): string | null {
  for (const [name, member] of Object.entries(value)) {
    if (
      known.has(name) ||
      member === undefined ||
      member === null ||
      member === false ||
      (Array.isArray(member) && member.length === 0)
    )
      continue;
    return `it holds \`${name}\`, which is not part of a plain SELECT`;
  }
  return null;
}

function findMemberFault(name: string, member: JsonValue, dialect: OtherDialect): string | null {
  if (name === "op" && member === "Assignment") return "it assigns a variable";
  if (!/^[A-Z]/.test(name)) return null;
  if (!NODES.has(name)) return `it holds \`${name}\`, which is not part of a plain SELECT`;
  if (!isJsonObject(member)) return null;
  switch (name) {
    case "Select":
      if (member["flavor"] !== "Standard") return "it is not a plain SELECT";
      return findExtra(member, SELECT_MEMBERS);
    case "Function":
      return findFunctionFault(member, dialect);
    case "Table":
      return findTableFault(member, dialect);
    case "Identifier":
      return findVariableFault(member);
    default:
      return null;
  }
}

function partsOf(name: JsonValue | undefined): readonly string[] | null {
  if (!Array.isArray(name)) return null;
  const parts = name.map((part) =>
    isJsonObject(part) && isJsonObject(part["Identifier"]) ? part["Identifier"]["value"] : undefined,
  );
  return parts.every((part): part is string => typeof part === "string")
    ? parts.map((part) => part.toLowerCase())
    : null;
}

function findFunctionFault(call: JsonObject, dialect: OtherDialect): string | null {
  const parts = partsOf(call["name"]);
  const functions = dialect === "mysql" ? MYSQL_FUNCTIONS : SQLITE_FUNCTIONS;
  if (parts?.length === 1 && functions.has(parts[0] ?? "") && call["parameters"] === "None") return null;
  return `it calls \`${(parts ?? ["?"]).join(".").slice(0, 100)}\`, which is not on the list of functions that only compute`;
}

function findTableFault(table: JsonObject, dialect: OtherDialect): string | null {
  const parts = partsOf(table["name"]);
  if (parts === null) return "it holds `Table`, which is not part of a plain SELECT";
  const name = parts.at(-1) ?? "";
  const schema = parts.length > 1 ? parts.slice(0, -1).join(".") : "";
  const fault = `it reads \`${parts.join(".").slice(0, 100)}\`, which is not on the list of system tables`;
  if (dialect === "mysql") {
    if (table["args"] !== undefined && table["args"] !== null) return `it calls \`${name}\` as a table`;
    if (["mysql", "sys", "performance_schema"].includes(schema)) return fault;
    return schema === "information_schema" && !MYSQL_SCHEMA_TABLES.has(name) ? fault : null;
  }
  if (table["args"] !== undefined && table["args"] !== null)
    return SQLITE_TABLE_FUNCTIONS.has(name) ? null : `it calls \`${name}\` as a table`;
  // SQLite makes a table of every table function, with or without brackets.
  if (
    /^(pragma_|dbstat$|bytecode$|tables_used$|fts\d|completion$|fsdir$|zipfile$|csv$|generate_series$)/.test(
      name,
    )
  )
    return fault;
  return name.startsWith("sqlite_") && !SQLITE_SYSTEM_TABLES.has(name) ? fault : null;
}

function findVariableFault(identifier: JsonObject): string | null {
  const value = identifier["value"];
  const isQuoted = identifier["quote_style"] !== undefined && identifier["quote_style"] !== null;
  return typeof value === "string" && value.startsWith("@") && !isQuoted
    ? "it reads a variable of the session or the server"
    : null;
}

function hasCap(query: JsonObject, maxRows: number): boolean {
  const clause = query["limit_clause"];
  if (!isJsonObject(clause)) return false;
  const arm = clause["LimitOffset"] ?? clause["OffsetCommaLimit"];
  const limit = isJsonObject(arm) && isJsonObject(arm["limit"]) ? arm["limit"]["Value"] : undefined;
  const value = isJsonObject(limit) && isJsonObject(limit["value"]) ? limit["value"]["Number"] : undefined;
  const digits = Array.isArray(value) ? value[0] : undefined;
  return typeof digits === "string" && /^\d{1,9}$/.test(digits) && Number(digits) <= maxRows;
}

function isSameRead(after: JsonObject, before: JsonObject, isWrapped: boolean): boolean {
  if (!isWrapped) {
    const { limit_clause: _clause, ...rest } = after;
    return shapeOf(rest) === shapeOf(before);
  }
  const body = isJsonObject(after["body"]) ? after["body"]["Select"] : undefined;
  const from =
    isJsonObject(body) && Array.isArray(body["from"]) && body["from"].length === 1
      ? body["from"][0]
      : undefined;
  const relation =
    isJsonObject(from) && isJsonObject(from["relation"]) ? from["relation"]["Derived"] : undefined;
  const inner = isJsonObject(relation) ? relation["subquery"] : undefined;
  return inner !== undefined && shapeOf(inner) === shapeOf(before);
}

/** The tree as a text without the positions. */
function shapeOf(node: JsonValue): string {
  return JSON.stringify(node, (name, value: unknown) => {
    if (name === "span" || name.endsWith("_token")) return undefined;
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });
}
