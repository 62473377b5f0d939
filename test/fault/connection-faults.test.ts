/** Every fault in every phase over both transports, as it is really seen: `docs/faults.md` is made of it. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock } from "../../src/base/manual-clock.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { PHASES, renderFaults, type FaultTable, type Phase } from "../support/faults-page.ts";
import { startPuppetHttp, type HttpMisbehaviour } from "../support/puppet-http.ts";
import { PUPPET_GRADES, type Misbehaviour } from "../support/puppet.ts";
import { createStage, type Actor } from "../support/stage.ts";

const PAGE = fileURLToPath(new URL("../../docs/faults.md", import.meta.url));
const AT_ONCE = 6;

/** What the scenes need of a puppet, whatever carries it. */
interface Strings {
  readonly entry: JsonObject;
  pull(at: Readonly<Record<string, string>>): Promise<void>;
  got(method: string): number;
  called(tool: string): number;
  /** How often it was started; absent where that is not its own to tell. */
  readonly tried: (() => number) | undefined;
  /** Who ended it. */
  endedBy(): string;
  stop(): Promise<void>;
}

const MOMENTS: Readonly<Record<Phase, string>> = {
  spawn: "start",
  probe: "server/discover",
  initialize: "initialize",
  list: "tools/list",
  idle: "ping",
  read: "tools/call",
  write: "tools/call",
  stream: "stream",
  closing: "end",
};
const MORE: JsonObject = {
  limits: { messageBytes: 1_048_576 },
  tools: { ...PUPPET_GRADES, stream: "L1" },
};
/** Faults that show at once: the clock waits for them like the world does. Others show by the time that passes. */
const QUICK = new Set([
  "exit",
  "kill",
  "huge",
  "shut",
  "reset",
  "cut",
  "refused",
  "500",
  "503",
  "429",
  "401",
]);
const SILENT = new Set(["silent", "garbage"]);
const FINAL = new Set(["ready", "dead", "idle", "incompatible", "auth-required"]);
const LOST = new Set(["backing-off", "auth-required", "dead"]);
const MINUTE_MS = 60_000;

const stdioFaults: readonly (readonly [Misbehaviour, string])[] = [
  ["exit", "exits with a code"],
  ["kill", "is killed"],
  ["silent", "says nothing"],
  ["garbage", "writes garbage, then nothing"],
  ["huge", "writes a line beyond the cap"],
  ["shut", "closes its output"],
  ["error", "answers by an error"],
];
const httpFaults: readonly (readonly [HttpMisbehaviour, string])[] = [
  ["refused", "nobody listens"],
  ["reset", "the connection is reset"],
  ["silent", "no answer comes"],
  ["garbage", "a page of HTML"],
  ["huge", "an answer beyond the cap"],
  ["cut", "the answer is cut off"],
  ["error", "a JSON-RPC error"],
  ["500", "status 500"],
  ["503", "status 503"],
  ["429", "status 429"],
  ["401", "status 401"],
];
/** What cannot happen in a phase. */
const SKIPPED: Readonly<Partial<Record<Phase, readonly string[]>>> = {
  spawn: ["error", "silent", "reset", "garbage", "huge", "cut", "500", "503", "429", "401"],
  stream: ["refused", "500", "503", "429", "401"],
  closing: ["error", "huge", "garbage", "refused", "503", "429", "401"],
};

it("every fault in every phase ends as docs/faults.md says", { timeout: 300_000 }, async () => {
  const tables: FaultTable[] = [
    {
      title: "A process (stdio)",
      about: "A server of the legacy era that the host starts itself.",
      faults: new Map(stdioFaults),
      cells: new Map(),
    },
    {
      title: "Over HTTP",
      about:
        "A server of the legacy era at an address. It is not started, so `start` is the connection to its address.",
      faults: new Map(httpFaults),
      cells: new Map(),
    },
  ];
  const [stdio, http] = tables as [FaultTable, FaultTable];
  const work = [
    ...listCells(stdio, openProcess, ["silent", "garbage", "huge"]),
    ...listCells(http, openRemote, []),
  ];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let cell = work.shift(); cell !== undefined; cell = work.shift()) await cell();
    }),
  );
  const page = renderFaults(tables);
  if (process.env["WRITE_FAULTS"] === "1") writeFileSync(PAGE, page);
  expect(page.split("\n")).toEqual(readFileSync(PAGE, "utf8").split("\n"));
});

/** @param atStart faults of `SKIPPED.spawn` that this transport has all the same. */
function listCells(
  { faults, cells }: FaultTable,
  open: (dir: ReturnType<typeof createStage>) => Promise<Strings>,
  atStart: readonly string[],
): (() => Promise<void>)[] {
  return [...faults.keys()].flatMap((fault) =>
    (Object.keys(PHASES) as Phase[])
      .filter(
        (phase) => SKIPPED[phase]?.includes(fault) !== true || (phase === "spawn" && atStart.includes(fault)),
      )
      .map((phase) => async () => {
        cells.set(`${fault} ${phase}`, await observe(phase, fault, open));
      }),
  );
}

async function observe(
  phase: Phase,
  fault: string,
  open: (stage: ReturnType<typeof createStage>) => Promise<Strings>,
): Promise<string> {
  const stage = createStage();
  const strings = await open(stage);
  const actor = await stage.open({ server: strings.entry }, { clock: createManualClock() });
  const scene: Scene = { actor, strings, fault, moment: MOMENTS[phase] };
  try {
    switch (phase) {
      case "spawn":
      case "probe":
      case "initialize":
      case "list":
        return await startWith(scene);
      case "idle":
        return await idleWith(scene);
      case "read":
      case "write":
      case "stream":
        return await callWith(scene, phase);
      case "closing":
        return await closeWith(scene);
    }
  } finally {
    await actor.close();
    await strings.stop();
  }
}

interface Scene {
  readonly actor: Actor;
  readonly strings: Strings;
  readonly fault: string;
  readonly moment: string;
}

const stateOf = ({ actor }: Scene): string => actor.states("server").at(-1) ?? "idle";
const connectings = ({ actor }: Scene): number =>
  actor.states("server").filter((state) => state === "connecting").length;

const triedOf = (scene: Scene): number => scene.strings.tried?.() ?? connectings(scene);

/** The clock waits for a start until the fault is reached, and for a fault that shows at once until it is seen. */
const isBusy = (scene: Scene) => (): boolean => {
  if (stateOf(scene) !== "connecting") return false;
  const { strings, moment, fault } = scene;
  const reached = moment === "start" ? triedOf(scene) : strings.got(moment);
  return QUICK.has(fault) || reached < connectings(scene);
};

async function startWith(scene: Scene): Promise<string> {
  const { actor, strings, fault, moment } = scene;
  await strings.pull({ [moment]: fault });
  const call = actor.host.call({ server: "server", tool: "read" }, {});
  await actor.pass(4 * MINUTE_MS, {
    isBusy: isBusy(scene),
    until: () => connectings(scene) > 0 && FINAL.has(stateOf(scene)),
  });
  const outcome = await actor.settled(call);
  return `${inWords(outcome)}; tried ${triedOf(scene)}×; \`${stateOf(scene)}\``;
}

async function idleWith(scene: Scene): Promise<string> {
  const { actor, strings, fault, moment } = scene;
  await actor.settled(actor.host.call({ server: "server", tool: "read" }, {}));
  await strings.pull({ [moment]: fault });
  const before = actor.states("server").length;
  const pings = strings.got(moment);
  const isLost = (): boolean =>
    actor
      .states("server")
      .slice(before)
      .some((state) => LOST.has(state));
  // A process that fails at once is lost by that, however long the machine takes to show it.
  const endsAtOnce = strings.tried !== undefined && QUICK.has(fault);
  await actor.pass(5 * MINUTE_MS, {
    isBusy: () => endsAtOnce && strings.got(moment) > pings && !isLost(),
    until: isLost,
  });
  await strings.pull({});
  await actor.pass(MINUTE_MS, {
    isBusy: isBusy({ ...scene, fault: "exit" }),
    until: () => FINAL.has(stateOf(scene)),
  });
  const path = actor.states("server").slice(before);
  const next = await actor.settled(actor.host.call({ server: "server", tool: "read" }, {}));
  return `${inSteps(path)}; next call ${inWords(next)}`;
}

async function callWith(scene: Scene, tool: "read" | "write" | "stream"): Promise<string> {
  const { actor, strings, fault, moment } = scene;
  await actor.settled(actor.host.call({ server: "server", tool: "read" }, {}));
  const before = strings.called(tool);
  await strings.pull({ [moment]: fault });
  const call = actor.host.call({ server: "server", tool }, {});
  let isOver = false;
  void call.then(() => (isOver = true));
  await actor.becomes("sent", () => strings.called(tool) > before || isOver);
  await actor.pass(4 * MINUTE_MS, {
    until: () => isOver,
    // The answer to each try has the time that it needs; what is silent is waited for in vain.
    isBusy: () => stateOf(scene) === "connecting" || (stateOf(scene) === "ready" && !SILENT.has(fault)),
  });
  const outcome = await call;
  await strings.pull({});
  await actor.pass(MINUTE_MS, {
    isBusy: () => stateOf(scene) === "connecting",
    until: () => FINAL.has(stateOf(scene)),
  });
  const effect = tool === "read" ? "" : `, effect ${outcome.effect}`;
  return `${inWords(outcome)}${effect}; sent ${strings.called(tool) - before}×; \`${stateOf(scene)}\``;
}

async function closeWith({ actor, strings, fault, moment }: Scene): Promise<string> {
  await actor.settled(actor.host.call({ server: "server", tool: "read" }, {}));
  await strings.pull({ [moment]: fault });
  const { remains } = await actor.close();
  return `${remains.length === 0 ? "nothing left" : "something is left"}; ${strings.endedBy()}`;
}

/** A path; where it goes back and forth, once. */
function inSteps(path: readonly string[]): string {
  if (path.length === 0) return "stays `ready`";
  const isToAndFro = path.length > 2 && path.every((state, at) => state === path[at % 2]);
  const steps = (isToAndFro ? path.slice(0, 2) : path).map((state) => `\`${state}\``).join(" → ");
  return isToAndFro ? `${steps}, again and again` : steps;
}

function inWords({ outcome, code }: Outcome): string {
  return code === null ? `\`${outcome}\`` : `\`${outcome}\` (\`${code}\`)`;
}

async function openProcess(stage: ReturnType<typeof createStage>): Promise<Strings> {
  const puppet = stage.puppet("server", MORE);
  let lastEnd = "";
  return {
    entry: puppet.entry,
    async pull(at) {
      lastEnd = at["end"] ?? "";
      puppet.pull({ at: at as Record<string, Misbehaviour> });
    },
    got: puppet.got,
    called: puppet.called,
    tried: puppet.starts,
    endedBy() {
      if (!puppet.lines().some((line) => line.did === "sigterm")) return "it left by itself";
      return lastEnd === "silent" ? "ended by SIGKILL" : "ended by SIGTERM";
    },
    stop: async () => undefined,
  };
}

async function openRemote(): Promise<Strings> {
  const puppet = await startPuppetHttp(MORE);
  return {
    entry: puppet.entry,
    pull: (at) => puppet.pull({ at: at as Record<string, HttpMisbehaviour> }),
    got: puppet.got,
    called: puppet.called,
    tried: undefined,
    endedBy: () => "its session is given back",
    stop: puppet.close,
  };
}
