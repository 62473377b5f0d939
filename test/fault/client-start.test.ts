/** `connectStdio`: one call to a connected client, also in front of servers that make it hard. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectStdio } from "../../src/client/connect-stdio.ts";
import { errorOf } from "../support/client-setup.ts";

const folder = mkdtempSync(join(tmpdir(), "portcullis-start-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const script = (name: string): string => join(import.meta.dirname, "../servers", name);
const options = { clientInfo: { name: "test", version: "1" } };

describe("connectStdio", () => {
  it("starts a server that leaves on the probe once more, as a legacy one", async () => {
    const STARTS = join(folder, "starts");
    const client = await connectStdio(
      {
        command: process.execPath,
        args: [script("stdio-leaves-on-probe.mjs")],
        env: { STARTS },
        cwd: folder,
      },
      options,
    );
    expect(client.facts).toMatchObject({ era: "legacy", verdictIsCertain: true });
    expect(readFileSync(STARTS, "utf8")).toBe("start\nstart\n");
    expect((await client.callTool("any", {})).content).toEqual([]);
    expect(await client.close()).toMatchObject({ how: "clean" });
  });

  it("says why where the command does not exist", async () => {
    const error = await errorOf(
      connectStdio({ command: "/no/such/command", env: {}, cwd: tmpdir() }, options),
    );
    expect(error.code).toBe("spawn_failed");
  });

  it("says why where the server ends at once, after two tries", async () => {
    const error = await errorOf(
      connectStdio(
        { command: process.execPath, args: ["-e", "process.exit(3)"], env: {}, cwd: tmpdir() },
        options,
      ),
    );
    expect(error).toMatchObject({ code: "process_exited", data: { exitCode: 3 } });
    expect(error.data).not.toHaveProperty("startAgainWith");
  });

  it("leaves nothing behind where its caller gives up", async () => {
    const controller = new AbortController();
    const connecting = connectStdio(
      { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], env: {}, cwd: tmpdir() },
      { ...options, signal: controller.signal },
    );
    setImmediate(() => controller.abort(new Error("enough")));
    await expect(connecting).rejects.toThrow("enough");
  });
});
