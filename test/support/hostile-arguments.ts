/**
 * Schemas and arguments that are dear in their own ways: long lists of names to choose from, names by the thousand, numbers as
 * long as they get. Made when they are needed, because some are large.
 */

export interface HostileArguments {
  readonly name: string;
  readonly schema: () => object;
  readonly value: () => unknown;
  /** `ok`, or the keyword of the first issue. */
  readonly expected: string;
}

function list<T>(length: number, make: (at: number) => T): T[] {
  return Array.from({ length }, (_, at) => make(at));
}

function object(length: number, make: (at: number) => [string, unknown]): Record<string, unknown> {
  return Object.fromEntries(list(length, make));
}

const q = (schema: unknown): object => ({ type: "object", properties: { q: schema } });
const items = (schema: unknown): object => q({ type: "array", items: schema });

const node = (name: string): object => ({ properties: { n: { $ref: "#/$defs/node" } }, required: [name] });

const nested = (levels: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = { n: value };
  return value;
};

export const hostileArguments: readonly HostileArguments[] = [
  {
    name: "64 KiB enum, a text of 1 MB",
    schema: () => q({ enum: list(6_500, (at) => `v${at}`) }),
    value: () => ({ q: "x".repeat(1_000_000) }),
    expected: "enum",
  },
  {
    name: "64 KiB enum of long texts, 20,000 texts that nearly fit",
    schema: () => items({ enum: list(950, (at) => `${"ab".repeat(27)}${at}`) }),
    value: () => ({ q: list(20_000, (at) => `${"ba".repeat(28)}${at}`) }),
    expected: "enum",
  },
  {
    name: "64 KiB of required names, 20,000 objects without them",
    schema: () => items({ required: list(6_000, (at) => `r${at}`) }),
    value: () => ({ q: list(20_000, () => ({})) }),
    expected: "required",
  },
  {
    name: "3,000 properties, 20,000 others that sound like them",
    schema: () => ({
      type: "object",
      additionalProperties: false,
      properties: object(3_000, (at) => [`prop_${at}`, {}]),
    }),
    value: () => object(20_000, (at) => [`porp_${at}`, 1]),
    expected: "additionalProperties",
  },
  {
    name: "no property allowed, names of 50,000 characters",
    schema: () => ({ type: "object", additionalProperties: false }),
    value: () => object(100, (at) => [`${"n".repeat(50_000)}${at}`, 1]),
    expected: "additionalProperties",
  },
  {
    name: "190,000 values of the wrong type",
    schema: () => items({ type: "string" }),
    value: () => ({ q: list(190_000, (at) => at) }),
    expected: "type",
  },
  {
    name: "uniqueItems, 190,000 numbers",
    schema: () => q({ type: "array", uniqueItems: true }),
    value: () => ({ q: list(190_000, (at) => at) }),
    expected: "budget",
  },
  {
    name: "uniqueItems, 60,000 objects",
    schema: () => q({ type: "array", uniqueItems: true }),
    value: () => ({ q: list(60_000, (at) => ({ a: at, b: "x" })) }),
    expected: "budget",
  },
  {
    name: "uniqueItems, 10 MB of text that begins alike",
    schema: () => q({ type: "array", uniqueItems: true }),
    value: () => ({ q: list(100, (at) => `${"x".repeat(100_000)}${at}`) }),
    expected: "budget",
  },
  {
    name: "uniqueItems, 100 objects of 900 members out of order",
    schema: () => q({ type: "array", uniqueItems: true }),
    value: () => ({ q: list(100, (at) => object(900, (member) => [`k${(member * 7_919) % 900}`, at])) }),
    expected: "budget",
  },
  {
    name: "a reference to itself, 400 objects of 400 members",
    schema: () => ({ type: "object", additionalProperties: { $ref: "#" } }),
    value: () => object(400, (at) => [`k${at}`, object(400, (member) => [`j${member}`, {}])]),
    expected: "budget",
  },
  {
    name: "a reference to itself under anyOf, 120 levels",
    schema: () => ({
      type: "object",
      $ref: "#/$defs/node",
      $defs: { node: { anyOf: [node("x"), node("y")] } },
    }),
    value: () => nested(120),
    expected: "anyOf",
  },
  {
    name: "one object of 90,000 members",
    schema: () => ({ type: "object", additionalProperties: { type: "integer" } }),
    value: () => object(90_000, (at) => [`member${at}`, at]),
    expected: "json",
  },
  {
    name: "one object of 50,000 members",
    schema: () => ({ type: "object", additionalProperties: { type: "integer" } }),
    value: () => object(50_000, (at) => [`member${at}`, at]),
    expected: "budget",
  },
  {
    name: "multipleOf the smallest number, 100,000 times the largest",
    schema: () => items({ multipleOf: 5e-324 }),
    value: () => ({ q: list(100_000, () => Number.MAX_VALUE) }),
    expected: "budget",
  },
  {
    name: "1,500 constants, 5,000 texts that are none of them",
    schema: () => items({ oneOf: list(1_500, (at) => ({ const: `c${at}` })) }),
    value: () => ({ q: list(5_000, (at) => `d${at}`) }),
    expected: "const",
  },
  {
    name: "2,000 names by 40 patterns that could backtrack",
    schema: () => ({
      type: "object",
      patternProperties: object(40, (at) => [`(a|b)+${at}$`, { type: "string" }]),
    }),
    value: () => object(2_000, (at) => [`${"ab".repeat(20)}${at}x`, 1]),
    expected: "budget",
  },
  {
    name: "repairs and defaults that do not fit beside 90,000 values",
    schema: () => ({
      type: "object",
      properties: {
        ...object(20, (at) => [`d${at}`, { type: "string", default: at }]),
        ...object(20, (at) => [`p${at}`, { type: "string" }]),
        list: { type: "array", items: { type: "integer" } },
      },
    }),
    value: () => ({ ...object(20, (at) => [`p${at}`, null]), list: list(90_000, (at) => at) }),
    expected: "ok",
  },
  {
    name: "a text of 200,000 line ends in a fence that never closes",
    schema: () => ({ type: "object" }),
    value: () => `\`\`\`json${" \n".repeat(100_000)}x`,
    expected: "type",
  },
  {
    name: "JSON text of 1.3 MB",
    schema: () => ({ type: "object" }),
    value: () => JSON.stringify({ q: list(90_000, (at) => ({ a: at })) }),
    expected: "ok",
  },
];
