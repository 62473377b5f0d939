import { afterEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import {
  createConnection,
  type Connection,
  type ConnectionOptions,
} from "../../../src/connection/connection.ts";
import type { Session, SessionEvents } from "../../../src/connection/session.ts";
import { PortcullisError } from "../../../src/errors.ts";

interface Opened {
  readonly events: SessionEvents;
  readonly session: Session;
  isClosed: boolean;
  heartbeat: () => Promise<number>;
}

const never = new AbortController().signal;
const open: Connection<Session>[] = [];

function setUp(
  script: (start: number) => "ok" | "hang" | "stubborn" | PortcullisError = () => "ok",
  more: Partial<ConnectionOptions<Session>> = {},
) {
  const clock: ManualClock = createManualClock();
  const starts: Opened[] = [];
  const kinds: string[] = [];
  const failures: string[] = [];
  const connection = createConnection<Session>({
    key: { server: "github", credential: "shared" },
    clock,
    plan: { maxRestarts: 3, delayMs: (n) => 1_000 * 2 ** (n - 1), whenExhausted: "dead" },
    connectMs: () => 30_000,
    idleStopMs: () => 900_000,
    heartbeat: { silenceMs: 60_000, timeoutMs: 5_000 },
    onFailure: (error) => failures.push(error.code),
    async open(signal, events) {
      const opened: Opened = {
        events,
        isClosed: false,
        heartbeat: async () => 3,
        session: {
          heartbeat: async () => opened.heartbeat(),
          close: async () => {
            opened.isClosed = true;
            return { how: "clean" };
          },
        },
      };
      starts.push(opened);
      const what = script(starts.length);
      if (what === "hang") await clock.sleep(10_000_000, signal);
      // A process that takes its time to go after it was given up.
      if (what === "stubborn") await clock.sleep(10_000_000, signal).catch(() => clock.sleep(2_000));
      if (what === "stubborn") opened.isClosed = true;
      if (what instanceof PortcullisError) throw what;
      return opened.session;
    },
    ...more,
  });
  connection.onChange(({ to }) => kinds.push(to.kind));
  open.push(connection);
  return { clock, connection, starts, kinds, failures };
}

afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
});

const lost = (): PortcullisError => new PortcullisError("process_exited", "exit code 3");

describe("connection", () => {
  it("starts once for many that want it", async () => {
    const { connection, starts } = setUp();
    const sessions = await Promise.all([1, 2, 3].map(async () => connection.ready(never)));
    expect(new Set(sessions).size).toBe(1);
    expect(starts.length).toBe(1);
  });

  it("is started again after a loss, never before the old session is closed, and waiters get the new one", async () => {
    const { clock, connection, starts, kinds } = setUp();
    const first = await connection.ready(never);
    starts[0]?.events.lost(lost());
    const waiting = connection.ready(never);
    await clock.advance(1_000);
    expect(await waiting).not.toBe(first);
    expect(starts[0]?.isClosed).toBe(true);
    expect(kinds).toEqual(["connecting", "ready", "backing-off", "connecting", "ready"]);
    expect(connection.restarts).toBe(1);
  });

  it("is dead after four starts, tells waiters why, and starts only when asked", async () => {
    const { clock, connection, starts } = setUp(lost);
    const waiting = connection.ready(never);
    waiting.catch(() => undefined);
    await clock.advance(60_000);
    await expect(waiting).rejects.toMatchObject({
      code: "server_unavailable",
      message: expect.stringContaining("exit code 3"),
    });
    expect(starts.length).toBe(4);
    await expect(connection.ready(never)).rejects.toMatchObject({ code: "server_unavailable" });
    connection.reconnect("a person asked");
    await clock.advance(0);
    expect(starts.length).toBe(5);
  });

  it("a start that hangs ends at its limit, and what comes late is not used", async () => {
    const { clock, connection } = setUp((start) => (start === 1 ? "hang" : "ok"));
    const waiting = connection.ready(never);
    await clock.advance(30_000);
    expect(connection.state).toMatchObject({ kind: "backing-off", code: "connect_timeout" });
    await clock.advance(1_000);
    await waiting;
    expect(connection.state.kind).toBe("ready");
  });

  it("a reconnect in the middle of a start waits until that start is really over", async () => {
    const { clock, connection, starts } = setUp((start) => (start === 1 ? "stubborn" : "ok"));
    connection.ready(never).catch(() => undefined);
    await clock.advance(0);
    for (let time = 0; time < 10; time += 1) connection.reconnect("a person asked");
    await clock.advance(1_999);
    expect(starts.length).toBe(1);
    await clock.advance(1);
    expect(starts[0]?.isClosed).toBe(true);
    expect(starts.length).toBe(2);
    expect(connection.state.kind).toBe("ready");
  });

  it("waits no longer than it is told to, names the state, and the start goes on", async () => {
    const { clock, connection } = setUp(() => lost());
    const waiting = connection.ready(never, 2_500);
    waiting.catch(() => undefined);
    await clock.advance(2_500);
    await expect(waiting).rejects.toMatchObject({
      code: "server_unavailable",
      message: "`github` was not ready within 2.5 s: it is backing-off (exit code 3)",
      data: { wasSent: false, because: "process_exited" },
    });
    expect(connection.state.kind).toBe("backing-off");
  });

  it("waiting for its turn to start is not counted, and a turn is given back whatever happens", async () => {
    let places = 0;
    const turns: (() => void)[] = [];
    const { clock, connection } = setUp((start) => (start === 1 ? "hang" : "ok"), {
      admit: async () => {
        await new Promise<void>((resolve) => turns.push(resolve));
        places += 1;
        return () => (places -= 1);
      },
    });
    connection.ready(never).catch(() => undefined);
    await clock.advance(600_000);
    expect(connection.state.kind).toBe("connecting");
    turns[0]?.();
    await clock.advance(29_999);
    expect([connection.state.kind, places]).toEqual(["connecting", 1]);
    await clock.advance(1);
    expect([connection.state.kind, places]).toEqual(["backing-off", 0]);
  });

  it("never starts more than four processes in a row, however many each start would take", async () => {
    for (const perStart of [1, 2, 3]) {
      let processes = 0;
      const { clock, connection } = setUp(undefined, {
        open: async (_signal, events) => {
          for (let time = 0; time < perStart && (await events.mayStart()); time += 1) processes += 1;
          throw lost();
        },
      });
      connection.ready(never).catch(() => undefined);
      await clock.advance(60_000);
      expect([connection.state.kind, processes]).toEqual(["dead", 4]);
    }
  });

  it("tells each failure once: starts that fail and sessions that are lost", async () => {
    const { clock, connection, starts, failures } = setUp((start) => (start === 2 ? lost() : "ok"));
    await connection.ready(never);
    starts[0]?.events.lost(new PortcullisError("connection_lost", "gone"));
    starts[0]?.events.lost(new PortcullisError("connection_lost", "gone"));
    await clock.advance(10_000);
    expect(failures).toEqual(["connection_lost", "process_exited"]);
    expect(connection.state.kind).toBe("ready");
  });

  it("asks at once where a call makes its life doubtful, one question at a time", async () => {
    const { clock, connection, starts } = setUp();
    await connection.ready(never);
    let asked = 0;
    const opened = starts[0];
    if (opened === undefined) throw new Error("not started");
    opened.heartbeat = async () => {
      asked += 1;
      throw new PortcullisError("connection_lost", "refused");
    };
    connection.doubt();
    connection.doubt();
    await clock.advance(0);
    connection.doubt();
    await clock.advance(0);
    expect([asked, connection.state.kind]).toEqual([1, "degraded"]);
    opened.heartbeat = async () => 2;
    await clock.advance(60_000);
    expect(connection.state.kind).toBe("ready");
  });

  it("events of an old session mean nothing", async () => {
    const { clock, connection, starts } = setUp();
    await connection.ready(never);
    starts[0]?.events.lost(lost());
    await clock.advance(1_000);
    starts[0]?.events.lost(lost());
    expect(connection.state.kind).toBe("ready");
  });

  it("401 stops it at once and tells waiters", async () => {
    const { connection, starts } = setUp();
    await connection.ready(never);
    starts[0]?.events.unauthorized(new PortcullisError("auth_required", "401"));
    await expect(connection.ready(never)).rejects.toMatchObject({ code: "auth_required" });
    expect(starts.length).toBe(1);
  });

  it("a silent dead server is noticed within four minutes, a busy one is not asked", async () => {
    const { clock, connection, starts } = setUp();
    await connection.ready(never);
    const done = connection.use();
    let asked = 0;
    const opened = starts[0];
    if (opened === undefined) throw new Error("not started");
    opened.heartbeat = async () => {
      asked += 1;
      throw new PortcullisError("timed_out", "silence");
    };
    for (let second = 0; second < 300; second += 30) {
      opened.events.alive();
      await clock.advance(30_000);
    }
    expect(asked).toBe(0);
    done();
    await clock.advance(240_000);
    expect(asked).toBe(3);
    expect(connection.restarts + (connection.state.kind === "backing-off" ? 1 : 0)).toBe(1);
  });

  it("an unused session ends after its time and comes back with the next call [CBP-06]", async () => {
    const { clock, connection, starts } = setUp();
    await connection.ready(never);
    const done = connection.use();
    await clock.advance(2_000_000);
    expect(connection.state.kind).toBe("ready");
    done();
    await clock.advance(900_000);
    expect(connection.state.kind).toBe("idle");
    expect(starts[0]?.isClosed).toBe(true);
    await connection.ready(never);
    expect(starts.length).toBe(2);
  });

  it.each(["hang", "ok"] as const)("close ends everything while it is %s", async (what) => {
    const { clock, connection, starts } = setUp(() => what);
    const waiting = connection.ready(never);
    waiting.catch(() => undefined);
    await clock.advance(0);
    expect(await connection.close()).toEqual({ how: "clean" });
    expect(connection.state.kind).toBe("closed");
    expect(clock.pending()).toBe(0);
    if (what === "ok") expect(starts[0]?.isClosed).toBe(true);
    else await expect(waiting).rejects.toMatchObject({ code: "interrupted" });
    await expect(connection.ready(never)).rejects.toMatchObject({ code: "interrupted" });
  });

  it("a caller who gives up waits no longer, the start goes on for the others", async () => {
    const { connection } = setUp(() => "hang");
    const controller = new AbortController();
    const waiting = connection.ready(controller.signal);
    controller.abort(new Error("gave up"));
    await expect(waiting).rejects.toThrow("gave up");
    expect(connection.state.kind).toBe("connecting");
  });
});
