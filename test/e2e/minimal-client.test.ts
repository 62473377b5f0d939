/** The teaching client against servers that it was not written for: one of each era. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

async function runMinimalClient(...command: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(root, "examples/minimal-client.mjs"), ...command], {
    timeout: 20_000,
  });
  return stdout;
}

describe("examples/minimal-client.mjs", () => {
  it("lists and calls on a real legacy server", async () => {
    const everything = join(root, "node_modules/.bin/mcp-server-everything");
    const [first, second] = (await runMinimalClient(process.execPath, everything)).split("\n");
    expect(first).toMatch(/^legacy: .*\becho\b/);
    expect(second).toBe("Echo: hello");
  });

  it("speaks the modern era where the server does", async () => {
    const [first, second] = (
      await runMinimalClient(process.execPath, join(root, "test/servers/modern-echo.mjs"))
    ).split("\n");
    expect(first).toBe("modern: echo");
    expect(second).toBe("hello");
  });
});
