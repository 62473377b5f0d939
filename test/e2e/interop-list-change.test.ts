/** A list that is still fresh by its own account, and a server that says that it changed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";

const script = join(import.meta.dirname, "../servers/list-changes.mjs");

let host: Host | undefined;
let stateDir: string;
afterEach(async () => {
  await host?.close();
  rmSync(stateDir, { recursive: true, force: true });
});

it("stale cache after a list change: the notification beats a ttl that has an hour to run [CCH-11] [TOOL-36] [CBP-04] [CBP-07]", async () => {
  stateDir = mkdtempSync(join(tmpdir(), "portcullis-list-"));
  let hasChanged = false;
  const refreshed = Promise.withResolvers<void>();
  const onEvent = (event: HostEvent): void => {
    if (hasChanged && event.type === "catalog.refreshed") refreshed.resolve();
  };
  const server = { command: process.execPath, args: [script], source: "own", tools: { "*": "L0" } };
  host = await openHost({ config: { mcpServers: { one: server } }, stateDir, onEvent });
  const turn = host.turn();
  const names = async (): Promise<string[]> => (await turn.tools()).map(({ name }) => name);
  expect(await names()).toEqual(expect.arrayContaining(["one__before", "one__change"]));
  hasChanged = true;
  expect(await turn.call("one__change", {})).toMatchObject({ outcome: "completed" });
  await refreshed.promise;
  const after = await names();
  expect(after).not.toContain("one__before");
  expect(after).toContain("one__after");
});
