/** What a program without types gets wrong: every mistake is named, nothing hangs, nothing ends the process. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHost } from "../../src/host/host.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import type { Provider } from "../../src/registry/provider-form.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
let host: Host;
/** As somebody writes it who has no compiler. */
const any = (value: unknown): never => value as never;

beforeEach(async () => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0", write: "L1" } }) },
  });
  host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
});
afterEach(async () => {
  await host.close();
  bench.remove();
});

describe("options of a wrong type are a usage error that names them", () => {
  it.each<[string, unknown]>([
    ["the options of a host", undefined],
    ["the options of a host", null],
    ["onEvent", { config: {}, onEvent: 42 }],
    ["onApproval", { config: {}, onApproval: "yes" }],
    ["onInput", { config: {}, onInput: {} }],
    ["resolveSecret", { config: {}, resolveSecret: [] }],
    ["role", { config: {}, role: 7 }],
    ["config", { config: 42 }],
    ["config", {}],
    ["stateDir", { config: {}, stateDir: 42 }],
    ["stateDir", { config: {}, stateDir: "" }],
  ])("of a host: %s", async (name, options) => {
    await expect(openHost(options as HostOptions)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(name),
    });
  });

  it.each<[string, unknown]>([
    ["the options of a turn", null],
    ["principal", { principal: 42 }],
    ["principal", { principal: {} }],
    ["principal", { principal: "" }],
    ["conversation", { conversation: 42 }],
    ["userText", { userText: {} }],
    ["signal", { signal: 42 }],
    ["signal", { signal: new AbortController() }],
  ])("of a turn: %s", (name, options) => {
    expect(() => host.turn(any(options))).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining(name) }),
    );
  });

  it.each<[string, unknown]>([
    ["the options of a call", null],
    ["signal", { signal: 42 }],
    ["signal", { signal: {} }],
    ["onProgress", { onProgress: 42 }],
  ])("of a call, a reading, a prompt: %s", async (name, options) => {
    const turn = host.turn();
    const refused = { code: "usage", message: expect.stringContaining(name) };
    await expect(turn.call("ledger__read", {}, any(options))).rejects.toMatchObject(refused);
    await expect(turn.read("ledger+x://y", any(options))).rejects.toMatchObject(refused);
    await expect(turn.prompt("ledger__p", {}, any(options))).rejects.toMatchObject(refused);
    expect(bench.sent("read")).toBe(0);
  });

  it("a form of tools that there is not is told with those that there are", async () => {
    for (const provider of ["openai", "__proto__", undefined])
      await expect(host.turn().offer(provider as Provider)).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining("openai-chat"),
      });
  });
});

describe("what a model or a program calls with", () => {
  it.each([undefined, null, 42, {}, Symbol("x")])(
    "a name that is none is an unknown tool: %s",
    async (name) => {
      expect(await host.turn().call(any(name), {})).toMatchObject({
        outcome: "refused",
        code: "unknown_tool",
      });
    },
  );

  it.each<[string, () => unknown]>([
    [
      "a getter that throws",
      () => ({
        get text() {
          throw new Error("no");
        },
      }),
    ],
    [
      "a proxy that throws",
      () =>
        new Proxy(
          {},
          {
            ownKeys() {
              throw new Error("no");
            },
          },
        ),
    ],
    [
      "a revoked proxy",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
    ["text with a key twice", () => '{"text":"a","text":"b"}'],
    ["text with a number that would become another", () => '{"text":9007199254740993}'],
  ])("%s is no arguments, and nothing is sent", async (_what, make) => {
    const outcome = await host.turn().call("ledger__write", any(make()));
    expect(outcome).toMatchObject({ code: "invalid_arguments", effect: "none" });
    expect(bench.sent("write")).toBe(0);
  });
});

it("listeners that throw or reject disturb nobody", async () => {
  const listened: string[] = [];
  host.onEvent(() => {
    throw new Error("thrown");
  });
  host.onEvent(async () => Promise.reject(new Error("rejected")));
  host.onEvent(({ type }) => void listened.push(type));
  expect(await host.turn().call("ledger__read", {})).toMatchObject({ outcome: "completed" });
  expect(listened).toContain("call.closed");
});
