/**
 * Who wants to hear of changes of single resources. A watch outlives the session it was opened on: a new session of the server is
 * asked again, and the watcher told, because something may have been missed meanwhile.
 *
 * Invariants: a watcher is told at most every `SETTLE_MS`, whatever the server sends, and never after `close`; a watch holds its
 * server in use; nothing is asked of a server that is paused or gone.
 */
import { linkAbort } from "../base/abort.ts";
import type { Timer } from "../base/clock.ts";
import type { Subscription } from "../client/subscriptions.ts";
import type { Connection } from "../connection/connection.ts";
import { PortcullisError } from "../errors.ts";
import type { Principal } from "../vocabulary.ts";
import type { Watch } from "./read-outcome.ts";
import { requireServer, type Core } from "./core.ts";
import { whyIdle } from "./idle.ts";
import type { HostSession } from "./open-session.ts";
import { requireUsable } from "./read.ts";

export interface WatchOptions {
  readonly server: string;
  /** As the server writes it. */
  readonly uri: string;
  readonly principal: Principal;
  /** Ends the wait for the server's agreement. */
  readonly signal: AbortSignal;
  readonly onUpdated: () => void;
}

const SETTLE_MS = 200;
/** Until a connection that ended is looked for anew. */
const REBIND_MS = 60_000;

/**
 * Resolves when the server has agreed.
 *
 * @throws PortcullisError `unknown_server`, `server_paused`, `outside_rollout`, `remote_error` where the server tells no changes of
 * it, what connecting ends with.
 */
export async function watchResource(core: Core, options: WatchOptions): Promise<Watch> {
  const { server: name, uri, principal } = options;
  requireUsable(core, requireServer(core.config(), name), principal);
  await core.audit.note("resource.watched", { server: name, uri: uri.slice(0, 500), principal });
  const watch = new ResourceWatch(core, options);
  try {
    await watch.start(options.signal);
  } catch (error) {
    watch.close();
    throw error;
  }
  return watch;
}

class ResourceWatch implements Watch {
  readonly #core: Core;
  readonly #options: WatchOptions;
  readonly #over = new AbortController();
  #connection: Connection<HostSession> | undefined;
  #leave: (() => void) | undefined;
  #asked: { readonly session: HostSession; readonly answer: Promise<void> } | undefined;
  #subscription: Subscription | undefined;
  #telling: Timer | undefined;
  #rebinding: Timer | undefined;

  constructor(core: Core, options: WatchOptions) {
    this.#core = core;
    this.#options = options;
    core.draining.addEventListener("abort", this.#onDraining, { once: true });
  }

  async start(signal: AbortSignal): Promise<void> {
    const { limits } = requireServer(this.#core.config(), this.#options.server);
    const link = linkAbort(signal, this.#over.signal);
    try {
      const session = await this.#bind().ready(link.signal, limits.connectMs);
      await this.#subscribe(session);
    } finally {
      link.unlink();
    }
    if (this.#subscription?.accepted.resourceSubscriptions === undefined)
      throw new PortcullisError(
        "remote_error",
        `\`${this.#options.server}\` tells no changes of \`${this.#options.uri.slice(0, 200)}\``,
      );
  }

  close(): void {
    this.#over.abort(new PortcullisError("cancelled", "the watch is over"));
    this.#core.draining.removeEventListener("abort", this.#onDraining);
    this.#telling?.cancel();
    this.#rebinding?.cancel();
    this.#subscription?.close();
    this.#leave?.();
  }

  readonly #onDraining = (): void => this.close();

  /** Takes the connection that the pool holds now. */
  #bind(): Connection<HostSession> {
    const { server: name, principal } = this.#options;
    const server = requireServer(this.#core.config(), name);
    const now = this.#core.pool.get(this.#core.inputs.keyOf(server, principal));
    if (now === this.#connection) return now;
    this.#leave?.();
    const release = now.use("watch");
    const stop = now.onChange(({ to }) => {
      // What is lost meanwhile is ready again later.
      if (to.kind === "ready" && now.session !== undefined)
        this.#subscribe(now.session).catch(() => undefined);
      if (to.kind === "closed" || to.kind === "idle") this.#rebindLater();
    });
    this.#leave = () => {
      stop();
      release();
    };
    this.#connection = now;
    return now;
  }

  #rebindLater(): void {
    if (this.#over.signal.aborted) return;
    this.#rebinding?.cancel();
    this.#rebinding = this.#core.clock.timer(REBIND_MS, () => {
      const server = this.#core.config().servers.get(this.#options.server);
      if (server === undefined || whyIdle(server, this.#core.pauses) !== null) return;
      // Where it cannot be had, its next change of state is heard all the same.
      this.#bind()
        .ready(this.#over.signal, server.limits.connectMs)
        .then((session) => this.#subscribe(session))
        .catch(() => undefined);
    });
  }

  /** Asks a session once; everybody who waits for it waits for the same answer. */
  #subscribe(session: HostSession): Promise<void> {
    if (session !== this.#asked?.session) {
      const isLater = this.#asked !== undefined;
      this.#asked = { session, answer: this.#ask(session, isLater) };
    }
    return this.#asked.answer;
  }

  async #ask(session: HostSession, isLater: boolean): Promise<void> {
    const filter = { resourceSubscriptions: [this.#options.uri] };
    const subscription = await session.client.listen(filter, () => this.#updated());
    if (session !== this.#asked?.session || this.#over.signal.aborted) {
      subscription.close();
      return;
    }
    this.#subscription = subscription;
    if (isLater) this.#updated();
  }

  #updated(): void {
    if (this.#over.signal.aborted) return;
    this.#telling ??= this.#core.clock.timer(SETTLE_MS, () => {
      this.#telling = undefined;
      this.#options.onUpdated();
    });
  }
}
