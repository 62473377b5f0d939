import { describe, expect, it } from "vitest";
import { digestJson } from "../../../src/base/json.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import type { Core } from "../../../src/host/core.ts";
import type { Prepared } from "../../../src/host/prepare.ts";
import { remember } from "../../../src/host/remember.ts";
import type { TurnState } from "../../../src/host/turn.ts";
import { createLastGood } from "../../../src/results/last-good.ts";
import { createMemoryStore } from "../../support/memory-documents.ts";
import { serverConfig } from "../../support/server-config.ts";
import { entryOf, tool } from "../../support/tools.ts";

const clock = createManualClock(1_000);
const raw = { content: [{ type: "text", text: "zebra" }] };

/** What is kept of one L0 answer. */
async function keptOf(isOnce: boolean): Promise<unknown> {
  const lastGood = createLastGood({
    documents: createMemoryStore(clock).documents,
    clock,
    sealer: { seal: (plain) => plain, open: (sealed) => sealed },
  });
  const entry = entryOf(tool("read"), "test");
  const key = { server: "test", credential: "shared" };
  const plan = {
    server: serverConfig(),
    tool: { entry, key, exposedName: "test__read", pinState: "new", isBaseline: true },
    policy: { labels: [] },
    arguments: {},
    text: () => "{}",
    digest: () => digestJson({}),
    decision: { grade: "L0" },
  } as unknown as Prepared;
  const turn = { principal: "local", conversation: { saw: () => undefined } } as unknown as TurnState;
  const core = { lastGood, undos: { offer: () => null } } as unknown as Core;
  const taken = { content: [], isError: false, model: "", isBlocked: false, findings: [], problems: [] };
  await remember(core, plan, turn, { raw, taken, callId: "c1", isOnce });
  const identity = { connection: key, principal: "local", tool: "read", arguments: "{}", pin: entry.pin };
  const kept = await lastGood.recall(identity, 60_000);
  await lastGood.flush();
  return kept?.raw;
}

describe("what is kept for when the server is away", () => {
  it("is the answer of a call that only reads", async () => {
    expect(await keptOf(false)).toEqual(raw);
  });

  it("is never an answer that rests on what a person said this time [CCH-02]", async () => {
    expect(await keptOf(true)).toBeUndefined();
  });
});
