/** The client over stdio against the outside servers that misbehave on the level of the protocol. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Client } from "../../src/client/client.ts";
import { connectStdio } from "../../src/client/connect-stdio.ts";
import type { LateAnswer } from "../../src/client/correlation.ts";
import type { ConnectOptions } from "../../src/client/options.ts";
import { errorOf } from "../support/client-setup.ts";
import { describeField, fieldServer } from "../support/field.ts";

interface Started {
  readonly client: Client;
  /** What the server wrote down. */
  readonly events: () => JsonObject[];
  readonly requests: (method: string) => JsonObject[];
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(
  name: string,
  env: Record<string, string> = {},
  options: Partial<ConnectOptions> = {},
): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), "portcullis-field-"));
  ends.push(async () => rmSync(folder, { recursive: true }));
  const STATE_FILE = join(folder, "state");
  const target = {
    command: process.execPath,
    args: [fieldServer(name)],
    env: { STATE_FILE, ...env },
    cwd: folder,
  };
  const client = await connectStdio(target, { clientInfo: { name: "test", version: "1" }, ...options });
  ends.push(async () => expect(await client.close()).toMatchObject({ how: "clean" }));
  const events = (): JsonObject[] =>
    readFileSync(STATE_FILE, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
  return { client, events, requests: (method) => events().filter((event) => event["method"] === method) };
}

const textOf = (result: { content: readonly object[] }): unknown =>
  (result.content[0] as { text?: string } | undefined)?.text;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describeField("fc18-silent-discover", () => {
  it("silent: one process, one probe, one initialize, and a verdict that is not certain", async () => {
    const { client, events, requests } = await start(
      "fc18-silent-discover",
      {},
      { limits: { probeMs: 500 } },
    );
    expect(client.facts).toMatchObject({ era: "legacy", verdictIsCertain: false });
    expect(textOf(await client.callTool("echo", { text: "x" }))).toContain("x");
    expect(events().filter((event) => event["event"] === "start")).toHaveLength(1);
    expect(requests("server/discover")).toHaveLength(1);
    expect(requests("initialize")).toHaveLength(1);
    expect(requests("notifications/cancelled")).toEqual([]);
  });

  for (const MODE of ["late", "late-discover"]) {
    it(`${MODE}: the answer that comes after the handshake changes nothing`, async () => {
      const { client, events } = await start(
        "fc18-silent-discover",
        { MODE, LATE_MS: "900" },
        { limits: { probeMs: 300 } },
      );
      expect(client.facts).toMatchObject({ era: "legacy" });
      await until(() => events().some((event) => event["event"] === "late-answer"));
      expect(textOf(await client.callTool("echo", { text: "x" }))).toContain("x");
      expect(client.oddities()).toMatchObject({ "answer.late": 1 });
    });
  }

  it("version: an old one is spoken, any other is incompatible", async () => {
    const { client } = await start("fc18-silent-discover", { VERSION: "2024-11-05" }, { eraHint: "legacy" });
    expect(client.facts).toMatchObject({ revision: "2024-11-05" });
    for (const VERSION of ["2026-07-28", "1999-01-01", ""]) {
      const error = await errorOf(start("fc18-silent-discover", { VERSION }, { eraHint: "legacy" }));
      expect(error.code).toBe("incompatible");
    }
  });
});

describeField("fc23-mrtr-rounds", () => {
  const inputs: ConnectOptions["inputs"] = {
    elicitForm: async () => ({ action: "accept", content: { colour: "red" } }),
  };

  it("rounds, state alone, and 64 KiB of state come through, each leg under a new id [MRTR-02] [MRTR-05]", async () => {
    const { client, events } = await start("fc23-mrtr-rounds", {}, { inputs });
    expect(textOf(await client.callTool("state_only", {}))).toBe("done after 2 state-only rounds");
    expect(textOf(await client.callTool("rounds", { n: 5 }))).toBe("done after 5");
    expect(textOf(await client.callTool("big_state", {}))).toBe("state kept");
    const names = events().map((event) => event["event"]);
    expect(names).toContain("state-ok");
    expect(names).not.toContain("state-bad");
    expect(names).not.toContain("id-reused");
    expect(
      events().filter(
        (event) => event["event"] === "round" && event["tool"] === "rounds" && event["round"] === 2,
      ),
    ).toMatchObject([{ answers: { q1: { action: "accept", content: { colour: "red" } } } }]);
  });

  const failures: readonly (readonly [string, string])[] = [
    ["forever", "protocol_error"],
    ["neither", "protocol_error"],
    ["unknown", "protocol_error"],
    ["undeclared", "input_refused"],
    ["abuse", "input_refused"],
  ];
  for (const [tool, code] of failures) {
    it(`${tool}: ${code}, and the connection goes on`, async () => {
      let asked = 0;
      const { client, events } = await start(
        "fc23-mrtr-rounds",
        {},
        {
          inputs: {
            elicitForm: async () => {
              asked += 1;
              return { action: "accept", content: { colour: "red" } };
            },
          },
        },
      );
      expect((await errorOf(client.callTool(tool, {}))).code).toBe(code);
      expect(asked).toBe(tool === "forever" ? 10 : 0);
      expect(events().filter((event) => event["event"] === "round")).toHaveLength(
        tool === "forever" ? 11 : 1,
      );
      expect(textOf(await client.callTool("echo", { text: "x" }))).toContain("x");
    });
  }
});

describeField("fc25-subscriptions", () => {
  const listen = async (
    MODE: string,
    waitMs: number,
  ): Promise<{
    seen: number;
    gaps: number;
    listens: number;
    accepted: object;
    oddities: Readonly<Record<string, number>>;
    started: Started;
  }> => {
    const started = await start(
      "fc25-subscriptions",
      { MODE, CHANGE_MS: "100", ERA: "modern" },
      { limits: { acknowledgeMs: 400 } },
    );
    let seen = 0;
    let gaps = 0;
    const { client } = started;
    const subscription = await client.listen({ toolsListChanged: true }, (change) =>
      change.isGap ? (gaps += 1) : (seen += 1),
    );
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await client.callTool("echo", {});
    return {
      seen,
      gaps,
      listens: started.requests("subscriptions/listen").length,
      accepted: subscription.accepted,
      oddities: client.oddities(),
      started,
    };
  };

  it("good: changes come until nobody listens any more", async () => {
    const { client, requests } = await start("fc25-subscriptions", {
      MODE: "good",
      CHANGE_MS: "50",
      ERA: "modern",
    });
    let seen = 0;
    const subscription = await client.listen({ toolsListChanged: true }, () => (seen += 1));
    await until(() => seen >= 3);
    subscription.close();
    await until(() => requests("notifications/cancelled").length === 1);
    expect(requests("subscriptions/listen")).toHaveLength(1);
  });

  it("no-ack: nothing counts as subscribed, and it is asked again rarely", async () => {
    const { seen, listens, accepted, oddities } = await listen("no-ack", 3_000);
    expect(seen).toBe(0);
    expect(accepted).toEqual({});
    expect(listens).toBeLessThanOrEqual(3);
    expect(oddities).toHaveProperty("subscription.no-acknowledgement");
  });

  it("subset: what was not agreed to is not there", async () => {
    expect(await listen("subset", 300)).toMatchObject({ seen: 0, accepted: {}, listens: 1 });
  });

  for (const [MODE, oddity] of [
    ["before-ack", "subscription.early"],
    ["foreign-id", "subscription.foreign-id"],
    ["unasked", "subscription.unasked"],
  ] as const) {
    it(`${MODE}: dropped and counted`, async () => {
      const { seen, listens, oddities } = await listen(MODE, 400);
      expect(seen).toBe(0);
      expect(listens).toBe(1);
      expect(oddities).toHaveProperty([oddity]);
    });
  }

  for (const MODE of ["end-response", "end-cancelled"]) {
    it(`${MODE}: listens again with backoff and tells of the gap once each time`, async () => {
      const { gaps, listens, started } = await listen(MODE, 5_000);
      expect(listens).toBeGreaterThanOrEqual(2);
      expect(listens).toBeLessThanOrEqual(4);
      expect(gaps).toBe(listens - 1);
      expect(started.requests("notifications/cancelled")).toEqual([]);
    });
  }

  it("refuse: asked once", async () => {
    expect(await listen("refuse", 1_500)).toMatchObject({ listens: 1, accepted: {} });
  });
});

describeField("fc69-late-duplicate-ids", () => {
  describe.each(["modern", "legacy"] as const)("%s", (ERA) => {
    const echoes = async (client: Client): Promise<void> =>
      expect(textOf(await client.callTool("echo", { text: "still" }))).toContain("still");

    it("late: cancelled at once, the late answer reaches onLate alone", async () => {
      const { client, requests } = await start("fc69-late-duplicate-ids", { ERA });
      const late: LateAnswer[] = [];
      const controller = new AbortController();
      const failed = errorOf(
        client.callTool("late", {}, { signal: controller.signal, onLate: (answer) => late.push(answer) }),
      );
      await until(() => requests("tools/call").length === 1);
      controller.abort(new Error("no"));
      expect((await failed).code).toBe("cancelled");
      await echoes(client);
      await until(() => late.length === 1);
      expect(late[0]).toMatchObject({ kind: "result", result: { content: [{ text: "too late" }] } });
      await echoes(client);
    });

    it("twice, unknown_id, request, pair: the right answer to each", async () => {
      const { client } = await start("fc69-late-duplicate-ids", { ERA });
      expect(textOf(await client.callTool("twice", {}))).toBe("first");
      expect(textOf(await client.callTool("unknown_id", {}))).toBe("real");
      expect(textOf(await client.callTool("request", {}))).toBe("real after request");
      const first = client.callTool("pair", {});
      const second = client.callTool("pair", {});
      expect([textOf(await first), textOf(await second)]).toEqual(["first call", "second call"]);
      await echoes(client);
      expect(client.oddities()).toMatchObject({
        "answer.duplicate": 1,
        "answer.unknown-id": 2,
        "answer.no-id": 1,
      });
    });

    it("both: invalid at once; neither: the real answer counts", async () => {
      const { client } = await start("fc69-late-duplicate-ids", { ERA });
      expect((await errorOf(client.callTool("both", {}))).code).toBe("protocol_error");
      expect(textOf(await client.callTool("neither", {}))).toBe("real after neither");
      await echoes(client);
    });

    it("never: times out and cancels", async () => {
      const { client, requests } = await start("fc69-late-duplicate-ids", { ERA });
      expect((await errorOf(client.callTool("never", {}, { idleTimeoutMs: 200 }))).code).toBe("timed_out");
      await until(() => requests("notifications/cancelled").length === 1);
      await echoes(client);
    });

    it("swap: each caller gets its own", async () => {
      const { client } = await start("fc69-late-duplicate-ids", { ERA, MODE: "swap" });
      const whos = ["a", "b", "c", "d"];
      const results = await Promise.all(whos.map((who) => client.callTool("who", { who })));
      expect(results.map(textOf)).toEqual(whos);
    });

    it("batch: answers in arrays are taken apart", async () => {
      const { client } = await start("fc69-late-duplicate-ids", { ERA, MODE: "batch" });
      await echoes(client);
    });

    it("number-ids: our ids are numbers anyway", async () => {
      const { client } = await start("fc69-late-duplicate-ids", { ERA, MODE: "number-ids" });
      await echoes(client);
    });

    it("string-ids: never matched, and known soon", async () => {
      const error = await errorOf(
        start("fc69-late-duplicate-ids", { ERA, MODE: "string-ids" }, { eraHint: "modern" }),
      );
      expect(error.code).toBe("protocol_error");
    });
  });
});
