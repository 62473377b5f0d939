/** A host with puppets, and everything it told; closed and removed after each test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ManualClock } from "../../src/base/manual-clock.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import type { ServerStatus } from "../../src/host/views.ts";
import { openHost } from "../../src/host/host.ts";
import type { HostEvent, HostEventType } from "../../src/telemetry/events.ts";
import { becomes, pass, settled, type PassOptions } from "./pace.ts";
import { createPuppet, type Puppet } from "./puppet.ts";

export interface Stage {
  readonly dir: string;
  puppet(name: string, more?: JsonObject): Puppet;
  /** Opens a host on the stage's state; with a manual clock where one is given. */
  open(servers: JsonObject, options?: StageOptions): Promise<Actor>;
}

export interface StageOptions {
  readonly clock?: ManualClock;
  readonly top?: JsonObject;
  readonly host?: Partial<HostOptions>;
}

export interface Actor {
  readonly host: Host;
  readonly events: readonly HostEvent[];
  of<Type extends HostEventType>(type: Type): readonly Extract<HostEvent, { readonly type: Type }>[];
  status(server: string): Promise<ServerStatus>;
  /** States that the connection to `server` went through. */
  states(server: string): readonly string[];
  /** Lets time go by on the manual clock; while a server starts no faster than in the world. */
  pass(ms: number, options?: PassOptions): Promise<void>;
  /** Like `await` under the manual clock. */
  settled<T>(promise: Promise<T>): Promise<T>;
  becomes(what: string, isSo: () => boolean): Promise<void>;
  close(deadlineMs?: number): ReturnType<Host["close"]>;
}

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Closed after the test. */
export function afterTest(end: () => Promise<void> | void): void {
  ends.push(end);
}

export function createStage(): Stage {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-stage-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  return {
    dir,
    puppet: (name, more) => createPuppet(dir, name, more),
    async open(servers, { clock, top = {}, host: hostOptions = {} } = {}) {
      const events: HostEvent[] = [];
      const host = await openHost(
        {
          config: { mcpServers: servers, ...top },
          stateDir: join(dir, "state"),
          onEvent: (event) => events.push(event),
          ...hostOptions,
        },
        clock === undefined ? {} : { clock },
      );
      let closing: ReturnType<Host["close"]> | undefined;
      const close = (deadlineMs?: number): ReturnType<Host["close"]> => {
        closing ??= clock === undefined ? host.close(deadlineMs) : settled(clock, host.close(deadlineMs));
        return closing;
      };
      ends.push(async () => void (await close()));
      const of: Actor["of"] = (type) => events.filter((event) => event.type === type) as never;
      const time = (): ManualClock => {
        if (clock === undefined) throw new Error("this stage runs in real time");
        return clock;
      };
      const isStarting = (): boolean => {
        const last = new Map(of("connection.changed").map(({ key, to }) => [key.server, to]));
        return [...last.values()].includes("connecting");
      };
      return {
        host,
        events,
        pass: (ms, passOptions) => pass(time(), ms, { isBusy: isStarting, ...passOptions }),
        settled: (promise) => settled(time(), promise),
        becomes: (what, isSo) => becomes(time(), what, isSo),
        of,
        async status(server) {
          const { servers: all } = await host.status({ server });
          const [one] = all;
          if (one === undefined) throw new Error(`there is no server ${server}`);
          return one;
        },
        states: (server) =>
          of("connection.changed")
            .filter(({ key }) => key.server === server)
            .map(({ to }) => to),
        close,
      };
    },
  };
}
