/**
 * Which draft of JSON Schema a schema speaks. Its `$schema` says so; without one it is 2020-12 (MCP, basic/index, "JSON
 * Schema usage"). Nothing is ever fetched to find out.
 */

/** Supported: 2020-12, 2019-09, draft-07, draft-06, and draft-04 as far as it differs by spelling. */
export type Dialect = "2020-12" | "2019-09" | "07" | "06" | "04";

const DIALECTS: readonly Dialect[] = ["2020-12", "2019-09", "07", "06", "04"];

const byUri: Readonly<Record<string, Dialect>> = {
  "json-schema.org/draft/2020-12/schema": "2020-12",
  "json-schema.org/draft/2019-09/schema": "2019-09",
  "json-schema.org/draft-07/schema": "07",
  "json-schema.org/draft-06/schema": "06",
  "json-schema.org/draft-04/schema": "04",
};

/** @returns the dialect that `uri` names, with `http` or `https` and with or without `#`; `undefined` for an unknown one. */
export function dialectOf(uri: string): Dialect | undefined {
  const bare = uri.replace(/^https?:\/\//, "").replace(/#$/, "");
  return Object.hasOwn(byUri, bare) ? byUri[bare] : undefined;
}

/** What differs between the drafts, as far as validation sees it. */
export interface DialectRules {
  readonly dialect: Dialect;
  /** Beside `$ref` nothing counts (draft-07 and before). */
  readonly refHidesSiblings: boolean;
  /** The keyword that names a resource. */
  readonly idKeyword: "$id" | "id";
  /** `items` may be an array, with `additionalItems` (2019-09 and before). */
  readonly hasTupleItems: boolean;
  /** `minimum` with a boolean `exclusiveMinimum` (draft-04). */
  readonly hasBooleanExclusive: boolean;
  /** `true` and `false` are schemas (draft-06 and later). */
  readonly hasBooleanSchemas: boolean;
  readonly hasConditional: boolean;
  /** `$anchor`, `dependentRequired`, `dependentSchemas`, `minContains`, `unevaluated*` (2019-09 and later). */
  readonly isVocabularyBased: boolean;
  readonly hasRecursiveRef: boolean;
  readonly hasDynamicRef: boolean;
}

const ruleTable: Readonly<Record<Dialect, DialectRules>> = {
  "2020-12": rules("2020-12"),
  "2019-09": rules("2019-09"),
  "07": rules("07"),
  "06": rules("06"),
  "04": rules("04"),
};

function rules(dialect: Dialect): DialectRules {
  const age = DIALECTS.indexOf(dialect);
  return {
    dialect,
    refHidesSiblings: age >= 2,
    idKeyword: dialect === "04" ? "id" : "$id",
    hasTupleItems: age >= 1,
    hasBooleanExclusive: dialect === "04",
    hasBooleanSchemas: dialect !== "04",
    hasConditional: age <= 2,
    isVocabularyBased: age <= 1,
    hasRecursiveRef: dialect === "2019-09",
    hasDynamicRef: dialect === "2020-12",
  };
}

export function dialectRules(dialect: Dialect): DialectRules {
  return ruleTable[dialect];
}
