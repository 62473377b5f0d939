/** Servers beside each other: each has a client of its own, and nothing of one reaches another but what a caller sends there. */
import { expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createStage } from "../support/stage.ts";

it("no server sees the calls, results or names of another, and their tools are told apart by the operator's names [BASE-24, TOOL-18]", async () => {
  const stage = createStage();
  const [one, two] = [stage.puppet("one"), stage.puppet("two")];
  const { host } = await stage.open({ one: one.entry, two: two.entry });
  const turn = host.turn();
  // Both say in `serverInfo` that they are `puppet`.
  const names = (await turn.tools()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["one__read", "two__read"]));
  expect(await turn.call("one__read", { text: "for-the-first-alone" })).toMatchObject({
    outcome: "completed",
  });
  expect(await turn.call("two__read", { text: "second" })).toMatchObject({ outcome: "completed" });
  expect(one.pid()).not.toBe(two.pid());
  expect(two.lines().map(({ args }) => args)).toContainEqual({ text: "second" });
  expect(readFileSync(join(stage.dir, "two.ledger.jsonl"), "utf8")).not.toMatch(/for-the-first|one/);
});

it("a process serves every turn, conversation and principal, and outlives each of them [BASE-18]", async () => {
  const stage = createStage();
  const server = stage.puppet("server");
  const { host } = await stage.open({ server: server.entry });
  for (const [conversation, principal] of [
    ["first", "local"],
    ["second", "local"],
    ["third", "alice"],
  ] as const) {
    const turn = host.turn({ conversation, principal });
    expect(await turn.call("server__read", {})).toMatchObject({ outcome: "completed" });
    await turn.close();
  }
  expect(server.starts()).toBe(1);
});
