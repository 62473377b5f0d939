import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { systemRandom } from "../../../src/base/random.ts";
import type { CallContext, McpAnswer } from "../../../src/gateway/mcp-answer.ts";
import { createRounds, type RoundRequest, type Rounds } from "../../../src/gateway/rounds.ts";
import type { InputRequest } from "../../../src/protocol/input-requests.ts";

const FORM: InputRequest = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object" } },
};
const MINUTES_10 = 600_000;

let clock: ManualClock;
let rounds: Rounds;
let told: JsonObject[];
beforeEach(() => {
  clock = createManualClock();
  rounds = createRounds({ clock, random: systemRandom });
  told = [];
});
afterEach(() => rounds.close());

interface Extras {
  readonly params?: JsonObject;
  readonly capabilities?: RoundRequest["capabilities"];
  readonly signal?: AbortSignal;
  readonly conversation?: string;
}

function request({ params = {}, capabilities = { elicitation: {} }, signal, conversation }: Extras = {}) {
  const context: CallContext = {
    era: "modern",
    conversation: conversation ?? "agent",
    signal: signal ?? new AbortController().signal,
    notify: (notification) => void told.push(notification),
  };
  return { method: "tools/call", params: { name: "t", ...params }, capabilities, context };
}

const done: McpAnswer = { ok: true, result: { done: true } };
const resultOf = (answer: McpAnswer): JsonObject => (answer.ok ? answer.result : {});
const codeOf = (answer: McpAnswer): number | null => (answer.ok ? null : answer.error.code);
const back = (answer: McpAnswer, response: JsonObject = { action: "accept" }): JsonObject => {
  const { inputRequests, requestState } = resultOf(answer);
  const [key = ""] = Object.keys(inputRequests as JsonObject);
  return { inputResponses: { [key]: response }, requestState: requestState ?? "" };
};

/** A call that asks so often, and ends with what it was told, or with why it was not. */
const asking =
  (times: number) =>
  async ({ client, signal }: CallContext): Promise<McpAnswer> => {
    const answers: JsonObject[] = [];
    try {
      for (let at = 0; at < times; at += 1)
        answers.push((await client?.ask(FORM, signal)) ?? { nobody: true });
    } catch (cause) {
      return { ok: true, result: { failed: (cause as Error).message } };
    }
    return { ok: true, result: { answers } };
  };
const never = async (): Promise<McpAnswer> => Promise.reject(new Error("not begun again"));

describe("rounds", () => {
  it("a client that declares nothing is answered at once, and its call knows nobody to ask", async () => {
    const answer = await rounds.answer(request({ capabilities: {} }), async ({ client }) => {
      expect(client).toBeUndefined();
      return done;
    });
    expect([answer, clock.pending()]).toEqual([done, 0]);
  });

  it("hand one question after another to the client, with a new state each, and the end", async () => {
    const first = await rounds.answer(request(), asking(2));
    const second = await rounds.answer(request({ params: back(first, { n: 1 }) }), never);
    expect(resultOf(second)["requestState"]).not.toBe(resultOf(first)["requestState"]);
    const last = await rounds.answer(request({ params: back(second, { n: 2 }) }), never);
    expect(resultOf(last)).toEqual({ answers: [{ n: 1 }, { n: 2 }] });
    expect(clock.pending()).toBe(0);
  });

  it("refuse a state that is another's, of another request, used or run out [GW-14]", async () => {
    const first = await rounds.answer(request(), asking(1));
    const params = back(first);
    for (const other of [
      request({ params: { ...params, name: "other" } }),
      request({ params, conversation: "another" }),
      request({ params: { ...params, requestState: "made up" } }),
      { ...request({ params }), method: "prompts/get" },
    ])
      expect(codeOf(await rounds.answer(other, never))).toBe(-32602);
    expect(resultOf(await rounds.answer(request({ params }), never))).toEqual({
      answers: [{ action: "accept" }],
    });
    expect(codeOf(await rounds.answer(request({ params }), never))).toBe(-32602);
  });

  it("end a call that nobody comes back for within ten minutes", async () => {
    const ended = Promise.withResolvers<McpAnswer>();
    const first = await rounds.answer(request(), async (context) => {
      const answer = await asking(1)(context);
      ended.resolve(answer);
      return answer;
    });
    await clock.advance(MINUTES_10);
    expect(resultOf(await ended.promise)["failed"]).toContain("did not come back");
    expect(codeOf(await rounds.answer(request({ params: back(first) }), never))).toBe(-32602);
    expect(clock.pending()).toBe(0);
  });

  it("give the end to a client that comes back after the question was withdrawn", async () => {
    const withdrawn = new AbortController();
    const first = await rounds.answer(request(), async ({ client }) => {
      await client?.ask(FORM, withdrawn.signal).catch(() => undefined);
      return done;
    });
    withdrawn.abort(new Error("too late"));
    expect(await rounds.answer(request({ params: back(first) }), never)).toEqual(done);
  });

  it("ask nothing that the request of the round does not declare [GW-15]", async () => {
    const first = await rounds.answer(request(), asking(2));
    const undeclared = request({ params: back(first), capabilities: { roots: {} } });
    expect(resultOf(await rounds.answer(undeclared, never))["failed"]).toContain("cannot be asked");
  });

  it("a client that leaves while its round is answered ends the call [GW-19]", async () => {
    const gone = new AbortController();
    const pending = rounds.answer(request({ signal: gone.signal }), ({ signal }) => {
      const end = Promise.withResolvers<McpAnswer>();
      signal.addEventListener("abort", () => end.resolve({ ok: true, result: { failed: "gone" } }));
      return end.promise;
    });
    gone.abort(new Error("gone"));
    expect(resultOf(await pending)["failed"]).toBe("gone");
  });

  it("progress goes to the request that waits, under its own token, or nowhere", async () => {
    const progress = (at: number): JsonObject => ({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "first", progress: at },
    });
    const first = await rounds.answer(
      request({ params: { _meta: { progressToken: "first" } } }),
      async ({ client, notify, signal }) => {
        notify(progress(1));
        await client?.ask(FORM, signal);
        notify(progress(2));
        await client?.ask(FORM, signal);
        notify(progress(3));
        return done;
      },
    );
    const second = await rounds.answer(
      request({ params: { ...back(first), _meta: { progressToken: "second" } } }),
      never,
    );
    expect(await rounds.answer(request({ params: back(second) }), never)).toEqual(done);
    expect(told).toEqual([progress(1), { ...progress(2), params: { progressToken: "second", progress: 2 } }]);
  });

  it("hold 256 calls at most, and none after the close", async () => {
    const failed: string[] = [];
    for (let at = 0; at < 256; at += 1)
      await rounds.answer(request(), async (context) => {
        const answer = await asking(1)(context);
        failed.push(String(resultOf(answer)["failed"]));
        return answer;
      });
    expect(codeOf(await rounds.answer(request(), never))).toBe(-32603);
    rounds.close();
    await clock.advance(0);
    expect([failed.length, new Set(failed), clock.pending()]).toEqual([
      256,
      new Set(["the gateway was closed"]),
      0,
    ]);
  });

  it.each([{ inputResponses: [] }, { inputResponses: { q1: "yes" } }, { requestState: 5 }])(
    "refuse %j",
    async (params) => {
      expect(codeOf(await rounds.answer(request({ params: params as unknown as JsonObject }), never))).toBe(
        -32602,
      );
    },
  );
});
