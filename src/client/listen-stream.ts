/**
 * The one `subscriptions/listen` stream of a modern connection: opened for what anybody wants, opened anew with backoff when
 * it ends, replaced when more is wanted. Source: patterns/subscriptions.
 *
 * Invariants: at most one stream counts as the current one; an older one lives only until the current one is acknowledged;
 * a stream whose listen was answered by an error is refused for good; nothing is delivered from a stream before its
 * acknowledgement (`wire/subscriptions.ts`).
 */
import type { Timer } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import { methods, TASKS_EXTENSION } from "../protocol/methods.ts";
import type { SubscriptionFilter } from "../protocol/subscriptions.ts";
import type { ServerCapabilities } from "../protocol/types.ts";
import {
  classifyListenNotification,
  intersectFilters,
  isEmptyFilter,
  type ListenState,
} from "../wire/subscriptions.ts";
import type { Core } from "./core.ts";
import type { SendLeg } from "./leg.ts";
import { requestError, rpcCodeOf } from "./remote-error.ts";
import type { SubscriptionDriver, Subscriptions } from "./subscriptions.ts";

export interface ListenStream extends SubscriptionDriver {
  /** A notification that carries the subscription id `id`. */
  receive(id: RequestId, method: string, params: JsonObject): void;
  /** The server names `id` in `notifications/cancelled`. @returns whether that was a listen stream. */
  endedByServer(id: RequestId): boolean;
}

interface Stream {
  id: number | undefined;
  readonly asked: SubscriptionFilter;
  state: ListenState;
  readonly abort: AbortController;
  /** True where it follows one that ended: what happened in between is not known. */
  readonly followsGap: boolean;
  readonly startedMs: number;
  readonly answered: PromiseWithResolvers<void>;
  ackTimer: Timer | undefined;
}

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "open"; readonly current: Stream }
  | { readonly kind: "waiting"; readonly timer: Timer }
  /** The server has no such thing: not asked again. */
  | { readonly kind: "refused" };

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** A stream that lived so long was healthy: the next end starts counting anew. */
const HEALTHY_MS = 60_000;

export function createListenStream(core: Core, subscriptions: Subscriptions, sendLeg: SendLeg): ListenStream {
  const streams = new Set<Stream>();
  let state: State = { kind: "idle" };
  let failures = 0;

  const liveAccepted = (): SubscriptionFilter =>
    state.kind === "open" && state.current.state.kind === "live" ? state.current.state.accepted : {};

  const open = (asked: SubscriptionFilter, followsGap: boolean): Stream => {
    const stream: Stream = {
      id: undefined,
      asked,
      state: { kind: "waiting", asked },
      abort: new AbortController(),
      followsGap,
      startedMs: core.clock.monotonic(),
      answered: Promise.withResolvers<void>(),
      ackTimer: undefined,
    };
    streams.add(stream);
    state = { kind: "open", current: stream };
    stream.ackTimer = core.clock.timer(core.limits.acknowledgeMs, () => {
      core.oddities.note("subscription.no-acknowledgement");
      stop(stream, "not acknowledged");
    });
    void run(stream);
    return stream;
  };

  /** Ends a stream from our side. */
  const stop = (stream: Stream, why: string): void =>
    stream.abort.abort(new PortcullisError("cancelled", `the listen stream was ended: ${why}`));

  const run = async (stream: Stream): Promise<void> => {
    let failure: PortcullisError | undefined;
    try {
      await sendLeg(
        methods.listen,
        { notifications: stream.asked as JsonObject },
        {
          idleTimeoutMs: Infinity,
          totalTimeoutMs: Infinity,
          signal: stream.abort.signal,
          mayHaveEffect: false,
          // Whoever wants to hear of tasks has to declare them.
          acceptsTask: stream.asked.taskIds !== undefined,
          onId: (id) => {
            stream.id = id;
          },
        },
      );
    } catch (error) {
      failure = toPortcullisError(error);
    }
    stream.ackTimer?.cancel();
    streams.delete(stream);
    if (state.kind === "open" && state.current === stream) ended(stream, failure);
    stream.answered.resolve();
  };

  const ended = (stream: Stream, failure: PortcullisError | undefined): void => {
    if (core.signal.aborted) {
      state = { kind: "idle" };
      return;
    }
    if (failure !== undefined && isRefusal(failure)) {
      state = { kind: "refused" };
      core.oddities.note("subscription.refused", failure.message);
      core.emit({ type: "listening", state: "refused" });
      return;
    }
    failures = core.clock.monotonic() - stream.startedMs >= HEALTHY_MS ? 0 : failures + 1;
    const waitMs =
      Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), MAX_WAIT_MS) *
      (1 + core.random.fraction() / 4);
    const timer = core.clock.timer(Math.max(waitMs, FIRST_WAIT_MS), () => {
      state = { kind: "idle" };
      const wanted = offered(subscriptions.wanted());
      if (!isEmptyFilter(wanted)) open(wanted, true);
    });
    state = { kind: "waiting", timer };
    core.emit({ type: "listening", state: "waiting" });
  };

  const acknowledged = (stream: Stream, accepted: SubscriptionFilter): void => {
    stream.state = { kind: "live", accepted };
    stream.ackTimer?.cancel();
    for (const other of streams) if (other !== stream) stop(other, "replaced");
    core.emit({ type: "listening", state: "live" });
    stream.answered.resolve();
    if (stream.followsGap) subscriptions.deliverGap(accepted);
  };

  const offered = (wanted: SubscriptionFilter): SubscriptionFilter => {
    const facts = core.facts();
    return facts.areCapabilitiesKnown
      ? intersectFilters(wanted, offeredBy(facts.capabilities, wanted))
      : wanted;
  };

  const stopAll = (): void => {
    if (state.kind === "waiting") state.timer.cancel();
    if (state.kind !== "refused") state = { kind: "idle" };
    for (const stream of streams) stop(stream, "nobody listens");
  };

  core.signal.addEventListener("abort", stopAll, { once: true });

  return {
    get accepted() {
      return liveAccepted();
    },
    async update(wanted) {
      if (core.signal.aborted || state.kind === "refused") return;
      const asked = offered(wanted);
      if (isEmptyFilter(asked)) {
        stopAll();
        return;
      }
      switch (state.kind) {
        case "idle":
          await open(asked, false).answered.promise;
          return;
        case "open":
          // Less than before is filtered here; only more needs another stream.
          if (isWithin(asked, state.current.asked)) await state.current.answered.promise;
          else
            await open(asked, state.current.followsGap && state.current.state.kind === "waiting").answered
              .promise;
          return;
        case "waiting":
          return;
      }
    },
    receive(id, method, params) {
      const stream = [...streams].find((candidate) => candidate.id === id);
      if (stream === undefined) {
        core.oddities.note("subscription.foreign-id", String(id).slice(0, 80));
        return;
      }
      const step = classifyListenNotification(stream.state, method, params);
      switch (step.kind) {
        case "acknowledged":
          acknowledged(stream, step.accepted);
          return;
        case "fact":
          subscriptions.deliver(step.fact, false);
          return;
        case "dropped":
          core.oddities.note(`subscription.${step.why}`, method);
          return;
      }
    },
    endedByServer(id) {
      const stream = [...streams].find((candidate) => candidate.id === id);
      if (stream?.id === undefined) return false;
      const request = core.correlation.take(stream.id);
      const error = requestError("connection_lost", methods.listen, "the server ended the listen stream", {
        wasSent: true,
      });
      request?.end({ kind: "broken", id: stream.id, error });
      return request !== undefined;
    },
  };
}

/** The server answered, or will not have us: it is not asked again. */
function isRefusal(failure: PortcullisError): boolean {
  return (
    rpcCodeOf(failure) !== undefined || failure.code === "auth_required" || failure.code === "auth_failed"
  );
}

/** Everything that a server may be asked to tell, by its capabilities. */
function offeredBy(capabilities: ServerCapabilities, wanted: SubscriptionFilter): SubscriptionFilter {
  return {
    ...(capabilities.tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(capabilities.prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    ...(capabilities.resources?.listChanged === true ? { resourcesListChanged: true } : {}),
    ...(capabilities.resources?.subscribe === true && wanted.resourceSubscriptions !== undefined
      ? { resourceSubscriptions: wanted.resourceSubscriptions }
      : {}),
    ...(capabilities.extensions?.[TASKS_EXTENSION] !== undefined && wanted.taskIds !== undefined
      ? { taskIds: wanted.taskIds }
      : {}),
  };
}

function isWithin(inner: SubscriptionFilter, outer: SubscriptionFilter): boolean {
  const common = intersectFilters(inner, outer);
  const isListed = (name: "resourceSubscriptions" | "taskIds"): boolean =>
    (common[name]?.length ?? 0) === (inner[name]?.length ?? 0);
  return (
    common.toolsListChanged === inner.toolsListChanged &&
    common.promptsListChanged === inner.promptsListChanged &&
    common.resourcesListChanged === inner.resourcesListChanged &&
    isListed("resourceSubscriptions") &&
    isListed("taskIds")
  );
}
