/**
 * Tells a person who is not looking: desktop, a program of theirs, a webhook, as `notify` in the configuration says.
 *
 * Invariants: nothing waits for it and nothing fails by it; what comes together goes out together, at most so many a minute;
 * secrets are resolved for each delivery, and taken out of every text; whatever is under way ends with the host.
 */
import { dirname } from "node:path";
import type { Clock, Timer } from "../base/clock.ts";
import { childEnvironment } from "../config/child-env.ts";
import { isLoopbackName } from "../config/compile-remote.ts";
import type { Config, LateText } from "../config/compiled.ts";
import { resolveLate, type LateResolver } from "../config/secrets.ts";
import { thisProcess } from "../config/this-process.ts";
import { createHttpPort } from "../egress/dial.ts";
import { PortcullisError } from "../errors.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { Redactor } from "../text/redact.ts";
import type { ProcessCommand } from "../transport/process.ts";
import { runProgram } from "../transport/run-program.ts";
import { connectionId } from "../vocabulary.ts";
import { DESKTOP_VARIABLES, desktopCommand } from "./notify-desktop.ts";
import { noticeOf, together, type Notice } from "./notices.ts";

export interface Notifier {
  hear(event: HostEvent): void;
  /** Sends what was gathered, and ends what takes too long. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly resolver: () => LateResolver;
  readonly onFault: (error: unknown) => void;
}

/** What comes within it goes out together. */
const GATHER_MS = 400;
const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
const DELIVERY_MS = 10_000;
/** What the end of the host leaves to the last ones. */
const LAST_MS = 2_000;
const MAX_GATHERED = 1_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export function createNotifier(options: NotifierOptions): Notifier {
  const { config, clock, redactor, onFault } = options;
  const stop = new AbortController();
  const held = new Map<string, number>();
  let gathered: Notice[] = [];
  let timer: Timer | undefined;
  let delivering: Promise<void> = Promise.resolve();
  let sentAtMs: number[] = [];
  let left = 0;
  let isClosed = false;

  const isOn = (): boolean => {
    const { desktop, command, webhook } = config().notify;
    return desktop || command !== null || webhook !== null;
  };

  /** As many as this minute has room for; the others are counted and told with the next one. */
  const withinRate = (notices: readonly Notice[]): readonly Notice[] => {
    const nowMs = clock.monotonic();
    sentAtMs = sentAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS);
    const kept = notices.slice(0, PER_MINUTE - sentAtMs.length);
    const missed = left;
    left += notices.length - kept.length;
    sentAtMs.push(...kept.map(() => nowMs));
    if (missed === 0 || kept.length === 0) return kept;
    left -= missed;
    return kept.map((notice, index) =>
      index === 0
        ? { ...notice, text: `${notice.text} (${missed} notices before it were left out)` }
        : notice,
    );
  };

  const flush = (): void => {
    timer = undefined;
    const notices = withinRate(together(gathered));
    gathered = [];
    for (const notice of notices) {
      const clean = { ...notice, title: redactor.redact(notice.title), text: redactor.redact(notice.text) };
      delivering = delivering.then(() => deliver(clean));
    }
  };

  const deliver = async (notice: Notice): Promise<void> => {
    if (stop.signal.aborted) return;
    const { desktop, command, webhook } = config().notify;
    const ways = [
      ...(desktop ? [() => showOnDesktop(notice)] : []),
      ...(command === null ? [] : [() => runCommand(notice, command)]),
      ...(webhook === null ? [] : [() => post(notice, webhook)]),
    ];
    for (const result of await Promise.allSettled(ways.map((way) => way()))) {
      if (result.status === "rejected" && !stop.signal.aborted) onFault(result.reason);
    }
  };

  const run = async (
    command: Omit<ProcessCommand, "env" | "cwd">,
    names: readonly string[],
    stdin?: string,
  ) => {
    const { env, platform, cwd } = thisProcess();
    const entry: Record<string, string> = {};
    for (const name of names) if (env[name] !== undefined) entry[name] = env[name];
    const { file } = config();
    const { code } = await runProgram(
      {
        ...command,
        env: childEnvironment({ host: env, entry, platform, command: command.command }),
        cwd: file === null ? cwd : dirname(file),
      },
      { clock, timeoutMs: DELIVERY_MS, signal: stop.signal, ...(stdin === undefined ? {} : { stdin }) },
    );
    if (code !== 0) throw failed(`\`${command.command}\` ended with ${String(code)}`);
  };

  const showOnDesktop = async (notice: Notice): Promise<void> => {
    const command = desktopCommand(notice, thisProcess().platform);
    if (command === null) throw failed("this system has no desktop notifications that are known here");
    await run(command, DESKTOP_VARIABLES);
  };

  const resolve = async (late: LateText, where: string): Promise<string> => {
    const { value, secrets } = await resolveLate(late, options.resolver(), where, stop.signal);
    redactor.add("notify", secrets);
    return value;
  };

  const runCommand = async (notice: Notice, parts: readonly LateText[]): Promise<void> => {
    const words: string[] = [];
    for (const [index, part] of parts.entries()) words.push(await resolve(part, `notify.command[${index}]`));
    const [command = "", ...args] = words;
    await run({ command, args }, [], `${JSON.stringify(notice)}\n`);
  };

  const post = async (notice: Notice, late: LateText): Promise<void> => {
    const text = await resolve(late, "notify.webhook");
    if (!URL.canParse(text)) throw failed("`notify.webhook` is no address");
    const url = new URL(text);
    const port = createHttpPort({
      clock,
      rules: { origins: [url.origin], allow: [], allowPrivateAddresses: isLoopbackName(url.hostname) },
    });
    try {
      const response = await port.request({
        method: "POST",
        url,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(notice),
        signal: stop.signal,
        headTimeoutMs: DELIVERY_MS,
        idleTimeoutMs: DELIVERY_MS,
        maxBodyBytes: MAX_ANSWER_BYTES,
      });
      for await (const _chunk of response.body) continue;
      if (response.status >= 300) throw failed(`\`notify.webhook\` answered with status ${response.status}`);
    } finally {
      await port.close();
    }
  };

  return {
    hear(event) {
      if (isClosed || !isOn()) return;
      const key = event.type === "catalog.refreshed" ? connectionId(event.key) : "";
      const notice = noticeOf(event, held.get(key) ?? 0);
      if (event.type === "catalog.refreshed") held.set(key, event.quarantined);
      if (notice === null || gathered.length >= MAX_GATHERED) return;
      gathered.push(notice);
      timer ??= clock.timer(GATHER_MS, flush);
    },
    async close() {
      isClosed = true;
      timer?.cancel();
      flush();
      const limit = clock.timer(LAST_MS, () =>
        stop.abort(new PortcullisError("interrupted", "the host is closed")),
      );
      await delivering;
      limit.cancel();
    },
  };
}

function failed(message: string): PortcullisError {
  return new PortcullisError("http_error", `a notice was not delivered: ${message}`);
}
