/**
 * Lint rules. The layer rules are made from one table, so that each message can say why; `test/pins/layering.test.ts`
 * holds the same table as a literal and parses the imports itself.
 */
import { defineConfig } from "oxlint";

/** Folders of `src/` by level: a folder may import from lower levels only. */
const levels: readonly (readonly string[])[] = [
  ["base", "errors", "vocabulary", "version"],
  ["protocol", "text", "jsonschema", "config", "store", "telemetry"],
  [
    "wire",
    "transport",
    "registry",
    "results",
    "policy",
    "approvals",
    "resilience",
    "egress",
    "auth",
    "audit",
  ],
  ["client"],
  ["connection", "inputs"],
  ["host"],
  ["operations"],
  ["gateway", "adapters", "testing"],
  ["cli"],
];

/** Modules that only some folders may import, with the reason. */
const edges: readonly { names: string[]; only: string[]; why: string }[] = [
  {
    names: ["undici", "node:net", "node:tls", "node:dns", "node:dns/promises", "node:http2"],
    only: ["egress"],
    why: "egress/ is the only way to any address: take an HttpPort",
  },
  {
    names: ["hono", "@hono/node-server"],
    only: ["gateway"],
    why: "only the gateway serves",
  },
  {
    // The CLI waits on loopback for the answer of a login: `loopback-callback.ts`.
    names: ["node:http", "node:https"],
    only: ["gateway", "cli"],
    why: "only the gateway listens, and the CLI for the answer of a login",
  },
  {
    names: ["node:child_process", "cross-spawn"],
    only: ["transport"],
    why: "only transport/ starts processes",
  },
  { names: ["node:sqlite"], only: ["store"], why: "one SQLite, behind the store port" },
  { names: ["pg"], only: ["store"], why: "one PostgreSQL driver, behind the store port" },
  {
    names: [
      "@opentelemetry/api",
      "@opentelemetry/otlp-transformer",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-metrics",
      "@opentelemetry/sdk-trace",
    ],
    only: ["telemetry"],
    why: "the core emits events; only telemetry/ makes spans and metrics of them",
  },
];

const why = (folder: string, level: number, forbidden: string): string =>
  levels[level]?.includes(forbidden) === true
    ? `${folder} and ${forbidden} are siblings (level ${level}) and do not import each other: pass a function or a value in`
    : `imports point down: ${forbidden} lies above ${folder} (level ${level})`;

/** They know `transport/http-port.ts`, the port of HTTP, and nothing else of transport (the pin test holds the rest). */
const usesHttpPort: ReadonlySet<string> = new Set(["egress", "auth"]);

const layerRules = levels.flatMap((folders, level) =>
  folders
    .filter((folder) => !["errors", "vocabulary", "version"].includes(folder))
    .map((folder) => {
      const above = levels
        .flatMap((names, at) => (at >= level ? names : []))
        .filter((name) => name !== folder && !(level === 0));
      const higher = level === 0 ? levels.slice(1).flat() : above;
      return {
        files: [`src/${folder}/**/*.ts`],
        rules: {
          "no-restricted-imports": [
            "error",
            {
              patterns: higher
                .filter((name) => !(usesHttpPort.has(folder) && name === "transport"))
                .map((name) => ({
                  group: [`**/${name}/**`, `**/${name}.ts`].filter((g) => !g.startsWith(`**/${folder}/`)),
                  message: why(folder, level, name),
                })),
              paths: edges
                .filter((edge) => !edge.only.includes(folder))
                .flatMap((edge) => edge.names.map((name) => ({ name, message: edge.why }))),
            },
          ],
        },
      };
    }),
);

export default defineConfig({
  plugins: ["typescript", "import", "oxc", "unicorn"],
  categories: { correctness: "error" },
  rules: {
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "max-lines": ["error", { max: 400, skipBlankLines: false, skipComments: false }],
    "no-restricted-globals": [
      "error",
      { name: "setTimeout", message: "take a Clock: time is an argument" },
      { name: "setInterval", message: "take a Clock: time is an argument" },
      { name: "fetch", message: "take an HttpPort: egress/ is the only way to any address" },
    ],
    "no-restricted-properties": [
      "error",
      { object: "Date", property: "now", message: "take a Clock: time is an argument" },
      { object: "performance", property: "now", message: "take a Clock: time is an argument" },
      { object: "Math", property: "random", message: "take a Random: randomness is an argument" },
      { object: "process", property: "env", message: "only config/ and cli/ read the environment" },
    ],
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/no-non-null-assertion": "error",
    "typescript/await-thenable": "error",
    "typescript/return-await": "error",
    "unicorn/no-thenable": "off",
    // Our objects are closures: their functions have no `this` to lose.
    "typescript/unbound-method": "off",
    "no-console": "error",
    "no-control-regex": "off",
    "no-await-in-loop": "off",
  },
  ignorePatterns: ["dist", "node_modules", "coverage", "scratch"],
  overrides: [
    ...layerRules,
    {
      files: ["src/base/**/*.ts"],
      rules: { "no-restricted-globals": "off", "no-restricted-properties": "off" },
    },
    {
      files: ["src/config/**/*.ts", "src/cli/**/*.ts"],
      rules: {
        "no-restricted-properties": [
          "error",
          { object: "Date", property: "now", message: "take a Clock: time is an argument" },
        ],
      },
    },
    {
      files: [
        "test/**/*",
        "scripts/**/*",
        "bench/**/*",
        "conformance/**/*",
        "examples/**/*",
        "console/**/*",
        "*.config.ts",
        "bin/*",
      ],
      rules: {
        "import/no-default-export": "off",
        "no-restricted-globals": "off",
        "no-restricted-properties": "off",
        "no-console": "off",
        "max-lines": ["error", { max: 600 }],
        "typescript/no-non-null-assertion": "off",
        "typescript/no-floating-promises": "error",
        // Fixtures and scripts are plain JavaScript with callbacks of every kind.
        "typescript/no-misused-promises": "off",
        "typescript/no-base-to-string": "off",
        "typescript/restrict-template-expressions": "off",
        // Puppets of one kind act at once, those of another need a moment: tests treat them alike.
        "typescript/await-thenable": "off",
        "typescript/require-array-sort-compare": "off",
        "import/no-cycle": "off",
        // A test that a missing value ends is a test that failed.
        "no-unsafe-optional-chaining": "off",
      },
    },
  ],
});
