/** Every example of the guide about tools for models runs as it stands there. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = readFileSync(join(root, "docs/guides/tools-for-models.md"), "utf8");
const examples = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) } });
  mkdirSync(join(bench.dir, "node_modules"));
  symlinkSync(root, join(bench.dir, "node_modules", "portcullis"));
  writeFileSync(
    join(bench.dir, "model.ts"),
    'export const askModel = async (_request: object) => ({ content: [{ type: "tool_use", name: "ledger__read", input: { text: "a" } }] });\n',
  );
  writeFileSync(
    join(bench.dir, "ai.ts"),
    "export const dynamicTool = (tool: object) => tool;\nexport const jsonSchema = (schema: object) => ({ schema });\n",
  );
});
afterEach(() => bench.remove());

function run(example: string): { status: number | null; stdout: string; stderr: string } {
  const file = join(bench.dir, "example.ts");
  writeFileSync(file, example);
  writeFileSync(join(bench.dir, "package.json"), '{"type":"module"}');
  return spawnSync(process.execPath, ["--conditions=source", file], {
    cwd: bench.dir,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: bench.dir, XDG_STATE_HOME: join(bench.dir, "state") },
  });
}

it("has three examples", () => {
  expect(examples).toHaveLength(3);
});

it.each([
  ["an agent loop", 0, ["completed", "read a"]],
  ["many tools", 1, ["search 4", "ledger__read", "completed"]],
  ["a framework", 2, ["true"]],
])("%s", { timeout: 60_000 }, (_what, at, expected) => {
  const { status, stdout, stderr } = run(examples[at] ?? "");
  expect([status, stderr]).toEqual([0, ""]);
  for (const text of expected) expect(stdout).toContain(text);
});
