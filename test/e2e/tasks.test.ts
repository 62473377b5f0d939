/** Tools that want to be called as tasks, through a host. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openHost } from "../../src/host/host.ts";

const SERVER = fileURLToPath(new URL("../servers/tasks.mjs", import.meta.url));

it("a legacy tool is called as a task where it says that it has to be, and otherwise never [TASK-19, TASK-20]", async () => {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-tasks-"));
  const LEDGER = join(dir, "ledger.jsonl");
  const tasks = {
    command: process.execPath,
    args: [SERVER],
    env: { LEDGER },
    source: "own",
    tools: { "*": "L0" },
  };
  const host = await openHost({ config: { mcpServers: { tasks } }, stateDir: join(dir, "state") });
  try {
    for (const tool of ["required", "optional", "forbidden", "unsaid"])
      expect(await host.call({ server: "tasks", tool }, {})).toMatchObject({ outcome: "completed" });
    const lines = readFileSync(LEDGER, "utf8").trim().split("\n");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { name: "required", task: {} },
      { name: "optional", task: null },
      { name: "forbidden", task: null },
      { name: "unsaid", task: null },
    ]);
  } finally {
    await host.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
