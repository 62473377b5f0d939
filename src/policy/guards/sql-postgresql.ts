/**
 * PostgreSQL statements, on the grammar of the server itself (libpg-query, PostgreSQL 18).
 *
 * Invariants: every kind of node is on a list, or the statement is refused; so is every function, and every system table.
 * `SELECT … INTO`, row locks and statements in `WITH` that write are refused wherever they stand.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { SqlReading } from "./sql.ts";
import {
  POSTGRESQL_FUNCTIONS,
  POSTGRESQL_INFORMATION_SCHEMA,
  POSTGRESQL_SYSTEM_TABLES,
} from "./sql-postgresql-names.ts";

const NODES = new Set(
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star Alias BitString BoolExpr Boolean BooleanTest CTECycleClause
  CTESearchClause CaseExpr CaseWhen CoalesceExpr CollateClause ColumnDef ColumnRef CommonTableExpr Float FuncCall GroupingFunc
  GroupingSet Integer JoinExpr JsonArrayAgg JsonArrayConstructor JsonArrayQueryConstructor JsonArgument JsonBehavior
  JsonFuncExpr JsonIsPredicate JsonKeyValue JsonObjectAgg JsonObjectConstructor JsonTable JsonTableColumn JsonValueExpr List
  MinMaxExpr NamedArgExpr NullTest ParamRef RangeFunction RangeSubselect RangeTableSample RangeVar ResTarget RowExpr
  SQLValueFunction SelectStmt SortBy String SubLink TypeCast TypeName WindowDef`.split(/\s+/),
);

/** Members that make a SELECT more than a read, wherever they stand. */
const FORBIDDEN_MEMBERS: Readonly<Record<string, string>> = {
  intoClause: "it writes into a table (INTO)",
  lockingClause: "it locks rows (FOR UPDATE, FOR SHARE)",
};

/** The functions that make a text as long as they are told; their second argument must be a small constant. */
const PADDING = new Set(["lpad", "rpad", "repeat"]);
const MAX_PADDING = 10_000;

/** @throws Error where the parser cannot be loaded. */
export async function readPostgresql(sql: string, maxRows: number): Promise<SqlReading> {
  const { loadModule, parseSync } = await import("libpg-query");
  await loadModule();
  const parse = (text: string): JsonObject | string => {
    try {
      return parseSync(text) as unknown as JsonObject;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const tree = parse(sql);
  if (typeof tree === "string") return denied(`it is not valid PostgreSQL: ${tree.slice(0, 200)}`);
  const statements = Array.isArray(tree["stmts"]) ? tree["stmts"] : [];
  const [statement] = statements;
  if (statements.length !== 1 || !isJsonObject(statement)) {
    return denied(
      statements.length === 0 ? "it holds no statement" : `it holds ${statements.length} statements`,
    );
  }
  const select = selectOf(statement);
  if (select === null) return denied("it is not a SELECT");
  const fault = findFault(statement);
  if (fault !== null) return denied(fault);
  if (hasCap(select, maxRows)) return { kind: "reads", capped: sql };

  const capped = putCap(statementText(sql, statement), select, maxRows);
  const again = parse(capped.text);
  if (typeof again === "string" || !isSameRead(again, select, capped.isWrapped, maxRows)) {
    return denied("a row limit cannot be put in: give one of your own");
  }
  return { kind: "reads", capped: capped.text };
}

function denied(reason: string): SqlReading {
  return { kind: "denied", reason };
}

function selectOf(statement: JsonObject): JsonObject | null {
  const node = statement["stmt"];
  const select = isJsonObject(node) ? node["SelectStmt"] : undefined;
  return isJsonObject(select) ? select : null;
}

/** Walks the whole tree without recursion: its depth is the writer's choice. */
function findFault(root: JsonObject): string | null {
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value);
    if (!isJsonObject(value)) continue;
    for (const [name, member] of Object.entries(value)) {
      const fault = Object.hasOwn(FORBIDDEN_MEMBERS, name)
        ? (FORBIDDEN_MEMBERS[name] ?? null)
        : findNodeFault(name, member);
      if (fault !== null) return fault;
      if (typeof member === "object") waiting.push(member);
    }
  }
  return null;
}

function findNodeFault(name: string, member: JsonValue): string | null {
  if (!/^[A-Z]/.test(name)) return null;
  if (!NODES.has(name))
    return `it holds \`${name.replace(/Stmt$/, "")}\`, which is not part of a plain SELECT`;
  if (!isJsonObject(member)) return null;
  if (name === "FuncCall") return findFunctionFault(member);
  if (name === "RangeVar") return findTableFault(member);
  if (name === "RangeTableSample") return findSampleFault(member);
  return null;
}

function namesOf(list: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.map((item) => {
    const text = isJsonObject(item) && isJsonObject(item["String"]) ? item["String"]["sval"] : undefined;
    return typeof text === "string" ? text : "";
  });
}

function findFunctionFault(call: JsonObject): string | null {
  const names = namesOf(call["funcname"]);
  const name = names.at(-1) ?? "";
  const schema = names.length > 1 ? names.slice(0, -1).join(".") : "pg_catalog";
  if (schema !== "pg_catalog" || !POSTGRESQL_FUNCTIONS.has(name)) {
    return `it calls \`${names.join(".").slice(0, 100)}\`, which is not on the list of functions that only compute`;
  }
  const args = Array.isArray(call["args"]) ? call["args"] : [];
  if (name === "format" && !isHarmlessFormat(args[0]))
    return "`format` needs a constant template without wide fields";
  if (!PADDING.has(name)) return null;
  const length = integerOf(args[1]);
  return length === null || length > MAX_PADDING
    ? `\`${name}\` needs a constant length of at most ${MAX_PADDING}`
    : null;
}

/** `%1000000000s` and `%*s` make a text as long as they are told, too. */
function isHarmlessFormat(node: JsonValue | undefined): boolean {
  const constant = isJsonObject(node) ? node["A_Const"] : undefined;
  const text =
    isJsonObject(constant) && isJsonObject(constant["sval"]) ? constant["sval"]["sval"] : undefined;
  return typeof text === "string" && !/%(\d+\$)?-?(\d{5,}|\*)/.test(text);
}

function findTableFault(table: JsonObject): string | null {
  const schema = table["schemaname"] ?? "";
  const name = typeof table["relname"] === "string" ? table["relname"] : "";
  if (table["catalogname"] !== undefined) return "it names another database";
  const isSystem = schema === "" || schema === "pg_catalog";
  if (
    isSystem &&
    (schema === "pg_catalog" || name.startsWith("pg_")) &&
    !POSTGRESQL_SYSTEM_TABLES.has(name)
  ) {
    return `it reads \`${name}\`, a system table that is not on the list`;
  }
  if (schema === "information_schema" && !POSTGRESQL_INFORMATION_SCHEMA.has(name)) {
    return `it reads \`information_schema.${name}\`, which is not on the list`;
  }
  if (!isSystem && typeof schema === "string" && schema.startsWith("pg_"))
    return `it reads the system schema \`${schema}\``;
  return null;
}

function findSampleFault(sample: JsonObject): string | null {
  const name = namesOf(sample["method"]).join(".");
  return name === "bernoulli" || name === "system" ? null : `it samples by \`${name}\``;
}

/** A constant whole number; `null` for anything else, also for LIMIT ALL and LIMIT NULL. */
function integerOf(node: JsonValue | undefined): number | null {
  const constant = isJsonObject(node) ? node["A_Const"] : undefined;
  if (!isJsonObject(constant) || constant["isnull"] === true || !isJsonObject(constant["ival"])) return null;
  // The parser leaves zeros out.
  const value = constant["ival"]["ival"] ?? 0;
  return typeof value === "number" ? value : null;
}

function hasCap(select: JsonObject, maxRows: number): boolean {
  if (select["limitOption"] !== "LIMIT_OPTION_COUNT") return false;
  const count = integerOf(select["limitCount"]);
  return count !== null && count >= 0 && count <= maxRows;
}

/** The text of the one statement without the semicolon behind it. Positions are in bytes. */
function statementText(sql: string, statement: JsonObject): string {
  const from = typeof statement["stmt_location"] === "number" ? statement["stmt_location"] : 0;
  const length = statement["stmt_len"];
  const bytes = Buffer.from(sql);
  return bytes.subarray(from, typeof length === "number" ? from + length : bytes.length).toString();
}

/** A line end goes before the bracket, so that a comment at the end cannot swallow it. */
function putCap(
  text: string,
  select: JsonObject,
  maxRows: number,
): { readonly text: string; readonly isWrapped: boolean } {
  // Without a limit of its own the statement keeps its order for certain when the limit becomes part of it.
  const isWrapped = select["limitOption"] !== "LIMIT_OPTION_DEFAULT";
  return {
    text: isWrapped ? `SELECT * FROM (${text}\n) AS q LIMIT ${maxRows}` : `(${text}\n) LIMIT ${maxRows}`,
    isWrapped,
  };
}

/** Whether the rewritten tree is the first one with nothing but the cap around it. */
function isSameRead(tree: JsonObject, before: JsonObject, isWrapped: boolean, maxRows: number): boolean {
  const statements = Array.isArray(tree["stmts"]) ? tree["stmts"] : [];
  const after = statements.length === 1 && isJsonObject(statements[0]) ? selectOf(statements[0]) : null;
  if (after === null || !hasCap(after, maxRows)) return false;
  if (!isWrapped) {
    const { limitCount: _count, ...rest } = after;
    return shapeOf({ ...rest, limitOption: "LIMIT_OPTION_DEFAULT" }) === shapeOf(before);
  }
  const from = after["fromClause"];
  const source =
    Array.isArray(from) && from.length === 1 && isJsonObject(from[0]) ? from[0]["RangeSubselect"] : undefined;
  const inner =
    isJsonObject(source) && isJsonObject(source["subquery"]) ? source["subquery"]["SelectStmt"] : undefined;
  return inner !== undefined && shapeOf(inner) === shapeOf(before);
}

/** The tree as a text without the positions. Members in a fixed order: the parser's own is that of the grammar. */
function shapeOf(node: JsonValue): string {
  return JSON.stringify(node, (name, value: unknown) => {
    if (/(^|_)(location|start|end|len)$/.test(name)) return undefined;
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });
}
