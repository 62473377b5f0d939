import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileConfig } from "../../../src/config/compile.ts";
import type { Config } from "../../../src/config/compiled.ts";
import { thisProcess } from "../../../src/config/this-process.ts";
import { planReload } from "../../../src/host/reload.ts";

const local = { command: "/bin/server", source: "own" };
const remote = { url: "https://example.com/mcp", source: "own" };

function compile(servers: JsonObject, top: JsonObject = {}, stateDir = "/state"): Config {
  const at = { file: null, baseDir: "/", stateDir, isStateDirGiven: true };
  return compileConfig({ mcpServers: servers, ...top }, { ...thisProcess(), ...at });
}

const nothing = { added: [], removed: [], changed: [], restarted: [], nextStart: [] };

describe("planReload", () => {
  const before = compile({ local, remote });
  it.each([
    ["nothing", compile({ local, remote }), nothing],
    [
      "a server more and one less",
      compile({ local, other: remote }),
      { ...nothing, added: ["other"], removed: ["remote"] },
    ],
    [
      "another program",
      compile({ local: { ...local, args: ["-v"] }, remote }),
      { ...nothing, changed: ["local"], restarted: ["local"] },
    ],
    [
      "a limit",
      compile({ local: { ...local, limits: { concurrency: 2 } }, remote }),
      { ...nothing, changed: ["local"] },
    ],
    [
      "switched off",
      compile({ local, remote: { ...remote, disabled: true } }),
      { ...nothing, changed: ["remote"], restarted: ["remote"] },
    ],
    [
      "where bytes may go: remote servers are connected anew",
      compile({ local, remote }, { egress: { allow: ["*.example.com"] } }),
      { ...nothing, restarted: ["remote"] },
    ],
    [
      "limits over all servers, and how long records are kept",
      compile({ local, remote }, { limits: { concurrency: 2, startAtOnce: 1 }, audit: { retention: "30d" } }),
      nothing,
    ],
    [
      "the address of the gateway",
      compile({ local, remote }, { gateway: { listen: "127.0.0.1:7421" } }),
      { ...nothing, nextStart: ["gateway"] },
    ],
    [
      "the place of the state",
      compile({ local, remote }, {}, "/elsewhere"),
      { ...nothing, nextStart: ["store"] },
    ],
    [
      "where traces go",
      compile({ local, remote }, { telemetry: { sample: 0.5 } }),
      { ...nothing, nextStart: ["telemetry"] },
    ],
  ])("%s", (_what, next, plan) => {
    expect(planReload(before, next)).toEqual(plan);
  });

  it.each([
    ["a database instead of a folder", "/var/lib/portcullis", "postgresql://me@db/one"],
    ["another database", "postgresql://me@db/one", "postgresql://me@db/two"],
    ["another password", "postgresql://me:one-correct-horse-battery@db/x", "postgresql://me:two-staple@db/x"],
  ])("%s counts from the next start", (_what, from, to) => {
    const stored = (store: string): Config =>
      compileConfig({ store }, { ...thisProcess(), file: null, baseDir: "/", stateDir: "/state" });
    expect(planReload(stored(from), stored(to))).toEqual({ ...nothing, nextStart: ["store"] });
    expect(planReload(stored(to), stored(to))).toEqual(nothing);
  });

  it("another token for the collector counts from the next start", () => {
    const telling = (token: string): Config =>
      compile({}, { telemetry: { headers: { Authorization: `Bearer ghp_${token.repeat(9)}` } } });
    expect(planReload(telling("0123"), telling("4567"))).toEqual({ ...nothing, nextStart: ["telemetry"] });
    expect(planReload(telling("0123"), telling("0123"))).toEqual(nothing);
  });
});
