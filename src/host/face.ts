/** The host as others see it: each member hands on to the part that does it. */
import { carryTrust } from "../config/trust.ts";
import { editConfigFile } from "../config/edit-file.ts";
import { loadLocated } from "../config/load.ts";
import type { Config } from "../config/compiled.ts";
import { thisProcess } from "../config/this-process.ts";
import { PortcullisError } from "../errors.ts";
import { listActivity } from "../audit/activity.ts";
import { exportRecords } from "../audit/export.ts";
import { verifyAudit } from "../audit/verify.ts";
import type { PinBook } from "../registry/pin-book.ts";
import type { CloseSummary, Host, SingleCallOptions, TurnOptions } from "./api.ts";
import type { Authorizations } from "./authorization.ts";
import { call } from "./call.ts";
import { runCheck } from "./check.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Conversations } from "./conversation.ts";
import { requireServer, type Core } from "./core.ts";
import { explain } from "./explain.ts";
import type { Health } from "./health.ts";
import { whyIdle } from "./idle.ts";
import { createLocks } from "./lock.ts";
import { listUnseen } from "./offer.ts";
import { resolveUri } from "./offer-reading.ts";
import type { Pauses } from "./pauses.ts";
import { getPrompt, readResource } from "./read.ts";
import { lookAtHeld } from "./release.ts";
import { applyReload, planReload } from "./reload.ts";
import { acceptDefinitions, reviewDefinitions } from "./review.ts";
import { replay } from "./replay.ts";
import { redactStrings } from "./redact-strings.ts";
import { reportStatus } from "./status.ts";
import { viewTools } from "./tool-views.ts";
import { openTurn, type RunningTurn } from "./turn.ts";
import { watchResource } from "./watches.ts";
import { toActivityView } from "./activity-view.ts";

export interface FaceDeps {
  readonly core: Core;
  readonly pins: PinBook;
  readonly catalogs: Catalogs;
  readonly health: Health;
  readonly pauses: Pauses;
  readonly authorizations: Authorizations;
  readonly conversations: Conversations;
  readonly onEvent: Host["onEvent"];
  readonly setConfig: (config: Config) => void;
  /** Before a configuration is in force: nothing that it names may be written down in the clear. */
  readonly learnSecrets: (config: Config) => Promise<void>;
  readonly close: (deadlineMs: number) => Promise<CloseSummary>;
}

const CLOSE_MS = 5_000;

export function createFace(deps: FaceDeps): Host & { connectEagerly(): void } {
  const { core, pins, catalogs, health, pauses } = deps;
  let closing: Promise<CloseSummary> | undefined;

  const turn = (options: TurnOptions = {}): RunningTurn => {
    if (closing !== undefined) throw new PortcullisError("interrupted", "the host is closed");
    return openTurn(core, deps.conversations, options);
  };

  /** A turn of one call. */
  const inTurn = async <Result>(
    options: TurnOptions,
    work: (opened: RunningTurn) => Promise<Result>,
  ): Promise<Result> => {
    const opened = turn(options);
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  };

  const reload = async (next: Config): Promise<void> => {
    await deps.learnSecrets(next);
    const plan = planReload(core.config(), next);
    // The store that is open stays where it is.
    deps.setConfig({ ...next, stateDir: core.config().stateDir });
    await applyReload(core, catalogs, plan);
    connectEagerly();
    const { added, removed, changed } = plan;
    core.emit({ type: "config.reloaded", at: core.clock.now(), added, removed, changed });
  };

  const connectEagerly = (): void => {
    for (const server of core.config().servers.values()) {
      if (server.connect !== "eager" || whyIdle(server, pauses) !== null) continue;
      // Nobody waits for it; what goes wrong shows in its state.
      core.pool
        .get({ server: server.name, credential: "shared" })
        .ready(core.signal)
        .catch(() => undefined);
    }
  };

  const edit: Host["edit"] = async (change) => {
    const config = core.config();
    if (config.file === null)
      throw new PortcullisError("usage", "this configuration was given in code: change it there");
    const applied = await editConfigFile(config.file, change, config.digest);
    await carryTrust(applied, { documents: core.store.documents, nowMs: core.clock.now() });
    const loaded = await loadLocated(applied.file, false, { ...thisProcess(), stateDir: config.stateDir });
    await reload(loaded.config);
    return { file: applied.file };
  };

  return {
    connectEagerly,
    get config() {
      return core.config();
    },
    turn,
    call: (target, args, options = {}) =>
      inTurn(options, ({ state }) =>
        call(core, { query: target, arguments: args, turn: state, options, ...named(options) }),
      ),
    explain: async (target, args, options = {}) => {
      const explanation = await inTurn(options, ({ state }) => explain(core, state, target, args));
      return redactStrings(explanation, (text) => core.redactor.redactValues(text));
    },
    read: (server, uri, options = {}) =>
      inTurn(options, ({ state }) => readResource(core, state, server, uri, options)),
    prompt: (server, name, args, options = {}) =>
      inTurn(options, ({ state }) => getPrompt(core, state, server, name, args, options)),
    watch: async (exposed, onUpdated, { principal = "local", signal = core.signal } = {}) =>
      watchResource(core, { ...resolveUri(core, exposed), principal, signal, onUpdated }),
    async tools({ server, refresh = false, signal = core.signal } = {}) {
      if (server !== undefined) requireServer(core.config(), server);
      if (refresh) await refreshAll(core, catalogs, server, signal);
      else await listUnseen(core, "local", signal, server);
      return viewTools(core, "local", server);
    },
    async status(options = {}) {
      if (options.server !== undefined) requireServer(core.config(), options.server);
      return reportStatus(core, health, options);
    },
    approvals: {
      list: () => core.broker.list(),
      answer: (id, answer) => core.broker.answer(id, answer),
      answerGroup: (group, answer) => core.broker.answerGroup(group, answer),
    },
    grants: {
      list: () => core.grants.list(),
      revoke: (id, by) => core.grants.revoke(id, by),
    },
    async undo(callId, options = {}) {
      const offer = await core.undos.take(callId, options.principal ?? "local");
      const { server, tool, arguments: args, origins } = offer;
      return inTurn(options, ({ state }) =>
        call(core, {
          query: { server, tool },
          arguments: args,
          turn: state,
          options,
          undoes: { callId, origins },
          ...named(options),
        }),
      );
    },
    async activity(filter = {}) {
      core.audit.release();
      return (await listActivity(core.store, filter)).map(toActivityView);
    },
    replay: (policy, filter) => replay(core, policy, filter),
    async verify() {
      core.audit.release();
      await core.store.flush();
      return verifyAudit(core.store);
    },
    async *exportRecords(filter = {}) {
      core.audit.release();
      await core.store.flush();
      yield* exportRecords(core.store.records, filter);
    },
    async review(server) {
      if (server !== undefined) requireServer(core.config(), server);
      await listUnseen(core, "local", core.signal, server);
      return reviewDefinitions(core, pins, server);
    },
    accept: async (target, by) => acceptDefinitions(core, pins, target, by),
    async reconnect(server) {
      if (server !== undefined) requireServer(core.config(), server);
      for (const one of core.config().servers.values()) {
        if ((server !== undefined && one.name !== server) || whyIdle(one, pauses) !== null) continue;
        core.pool.get({ server: one.name, credential: "shared" });
        for (const connection of core.pool.list().filter(({ key }) => key.server === one.name)) {
          core.guards.forgive(connection.key);
          connection.reconnect("a person asked");
        }
      }
    },
    async pause(server, by) {
      if (server !== null) requireServer(core.config(), server);
      await pauses.pause(server, by, core.clock.now());
      await core.audit.note("server.paused", { server: server ?? "*", by });
    },
    async resume(server, by) {
      if (server !== null) requireServer(core.config(), server);
      await pauses.resume(server);
      connectEagerly();
      await core.audit.note("server.resumed", { server: server ?? "*", by });
    },
    async login(server, interaction, options = {}) {
      const report = await deps.authorizations.login(server, interaction, options);
      const { issuer, scopes } = report;
      await core.audit.note("server.logged-in", {
        server,
        principal: options.principal ?? "local",
        issuer,
        scopes: [...scopes],
      });
      return report;
    },
    async logout(server, options = {}) {
      const report = await deps.authorizations.logout(server, options);
      const principal = options.principal ?? "local";
      await core.audit.note("server.logged-out", { server, principal, revocation: report.revocation });
      return report;
    },
    reload,
    edit,
    ...createLocks(core, edit),
    check: (proofs = null, signal = core.signal) => runCheck(core, proofs, signal),
    onEvent: deps.onEvent,
    held: async (callId, release) => lookAtHeld(core, callId, release),
    async readMore(restId, principal, page) {
      const rest = await core.rests.readMore(restId, principal, page);
      if (rest === undefined) return undefined;
      const { text } = core.channels.modelText("result", { server: "portcullis", name: restId }, rest.text, {
        restId,
        page: rest.page,
        pages: rest.pages,
        isReleased: rest.isReleased,
      });
      return { text, page: rest.page, pages: rest.pages };
    },
    close(deadlineMs = CLOSE_MS) {
      closing ??= deps.close(deadlineMs);
      return closing;
    },
  };
}

function named({ callId }: SingleCallOptions): { callId?: string } {
  return callId === undefined ? {} : { callId };
}

/** Asks servers again, all at once; one that cannot be had keeps what is known of it. */
async function refreshAll(
  core: Core,
  catalogs: Catalogs,
  only: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const servers = [...core.config().servers.values()].filter(
    (server) => (only === undefined || server.name === only) && whyIdle(server, core.pauses) === null,
  );
  await Promise.allSettled(
    servers.map(async ({ name }) => {
      const connection = core.pool.get({ server: name, credential: "shared" });
      const wasReady = connection.state.kind === "ready";
      const session = await connection.ready(signal);
      // A session that was just opened has just been listed.
      if (wasReady) await catalogs.refresh(connection.key, session.client, session.facts, signal);
    }),
  );
}
