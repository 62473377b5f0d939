/**
 * What a host can do: the contract of the library face, and what operations, gateway and console stand on. The
 * implementation is `host.ts`.
 */
import type { JsonObject } from "../base/json.ts";
import type { AnswerInput, AnswerReport } from "../approvals/answer.ts";
import type { GrantView } from "../approvals/grants.ts";
import type { ApprovalView } from "../approvals/view.ts";
import type { Config } from "../config/compiled.ts";
import type { ConfigEdit } from "../config/edit.ts";
import type { ResolveSecret } from "../config/secrets.ts";
import type { PortcullisError } from "../errors.ts";
import type { Decision } from "../policy/decision.ts";
import type { CompletionParams } from "../protocol/completion.ts";
import type { Progress, Prompt, Resource, ResourceTemplate, Tool } from "../protocol/types.ts";
import type { AuditVerdict } from "../audit/verify.ts";
import type { LoginReport, LogoutReport } from "../auth/authorization.ts";
import type { Interaction } from "../auth/login.ts";
import type { Provider, ProviderTools } from "../registry/provider-form.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { InputCallback } from "../inputs/question.ts";
import type { InputSources } from "../inputs/handler.ts";
import type { RootsSource } from "../inputs/roots.ts";
import type { Sampling } from "../inputs/sampling.ts";
import type { Finding, Principal, TraceContext } from "../vocabulary.ts";
import type { LoginOptions } from "./authorization.ts";
import type { ListenOptions } from "./event-hub.ts";
import type { CheckLine, LiveProof } from "./check-line.ts";
import type { Outcome } from "./outcome.ts";
import type { CompletionOutcome, ReadOutcome, Watch } from "./read-outcome.ts";
import type { ReplayReport } from "./replay.ts";
import type { ActivityView, StatusReport, ToolView } from "./views.ts";

/** Asked instead of a person where the library's user gave a callback. */
export type ApprovalCallback = (approval: ApprovalView, signal: AbortSignal) => Promise<CallbackAnswer>;

export type CallbackAnswer =
  | {
      readonly verdict: "approve";
      readonly by?: Principal;
      readonly without?: readonly number[];
      readonly typed?: string;
    }
  | { readonly verdict: "deny"; readonly by?: Principal; readonly reason?: string };

/** Who answers what servers ask (elicitation, and what is deprecated in MCP: sampling, roots). */
export interface CallerInputs extends InputSources {
  /** Sees every question, those of sampling and roots included. */
  readonly ask: InputCallback;
}

export interface HostOptions {
  /** A compiled configuration, the path of a file, or the same object that the file would hold. */
  readonly config: Config | string | JsonObject;
  /** Where state lives. Default: the user's state directory, in a folder keyed by the configuration's path. */
  readonly stateDir?: string;
  /** Shown in `instances`; default `library`. */
  readonly role?: string;
  readonly onApproval?: ApprovalCallback;
  /** Answers what servers ask during a call (elicitation). Without it nothing is declared to them, so nothing may be asked. */
  readonly onInput?: InputCallback;
  /** Models that servers may have asked (deprecated in MCP); each time `onInput` sees the question and the answer first. */
  readonly sampling?: Sampling;
  /** Folders that servers may be told of (deprecated in MCP); each time `onInput` has to agree. */
  readonly roots?: RootsSource;
  /** Calls bring who answers (`CallOptions.inputs`): servers are told of it. Default false. */
  readonly callersAnswer?: boolean;
  /** A key-management service: asked before environment and files; `undefined` falls through to them. */
  readonly resolveSecret?: ResolveSecret;
  readonly onEvent?: (event: HostEvent) => void;
}

export interface TurnOptions {
  /** Default `local`. */
  readonly principal?: Principal;
  /** Turns that share a model's context name the same; default: a conversation of its own. */
  readonly conversation?: string;
  /** What the user said: values in it are theirs and no finding when they appear in arguments. */
  readonly userText?: string;
  /** Ends all calls of the turn. */
  readonly signal?: AbortSignal;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Answers what the server asks during this call, instead of the host's own; needs `callersAnswer`. */
  readonly inputs?: CallerInputs;
  /** `false`: an *ask* is refused at once instead of waiting for an answer. Default true. */
  readonly wait?: boolean;
  /** The person at the terminal has said yes already (`--yes`), and typed this for L3 (`--confirm`). */
  readonly consent?: { readonly by: Principal; readonly channel: "terminal"; readonly typed: string | null };
  /** The trace that the call belongs to: the server is told, and so is whoever keeps traces. */
  readonly trace?: TraceContext;
}

/** A call in a turn of its own. */
export interface SingleCallOptions extends CallOptions, TurnOptions {
  /** Its id, where the caller has to know it beforehand: a new one of `timedId`. */
  readonly callId?: string;
}

/** One request of a user to the agent: the scope of the retry budget and of one group of approvals. */
export interface Turn {
  readonly id: string;
  readonly principal: Principal;
  readonly conversation: string;
  /** The tools a model may be offered, in MCP's own form, under their exposed names. Never waits for a server it has seen before. */
  tools(): Promise<readonly Tool[]>;
  /** The same for a request to one provider, with the way back from what its model calls. */
  offer<P extends Provider>(provider: P, options?: OfferToolsOptions): Promise<ToolOffer<P>>;
  /**
   * One governed call by exposed name.
   * @param args an object, or the JSON text of one as models write it.
   */
  call(name: string, args: JsonObject | string, options?: CallOptions): Promise<Outcome>;
  /** Resources of all servers, under URIs that say which server is meant. Waits as little as `tools`; so do the next two. */
  resources(): Promise<readonly Resource[]>;
  resourceTemplates(): Promise<readonly ResourceTemplate[]>;
  /** Under exposed names. */
  prompts(): Promise<readonly Prompt[]>;
  /**
   * Reads a resource with the same care as a call.
   * @param uri of `resources()`, or made from one of `resourceTemplates()`.
   * @throws PortcullisError `unknown_server` where it can be of no server; so do the next two.
   */
  read(uri: string, options?: CallOptions): Promise<ReadOutcome>;
  /** Gets a prompt with the same care. @throws PortcullisError `usage` where an argument is no string. */
  prompt(name: string, args: JsonObject, options?: CallOptions): Promise<ReadOutcome>;
  /** What a server proposes for an argument. @param params with an exposed name, URI or template. */
  complete(params: CompletionParams, options?: CallOptions): Promise<CompletionOutcome>;
  /** Ends what still runs. */
  close(): Promise<void>;
}

export interface OfferToolsOptions {
  /** OpenAI: strict schemas for the tools that have a faithful strict form. Default false. */
  readonly strict?: boolean;
  /** All tools, the ones that find them, or by size. Default as `catalog` of the configuration says. */
  readonly mode?: "auto" | "whole" | "search";
  /** With `auto`: above this many tokens tools are searched. */
  readonly thresholdTokens?: number;
}

/** Tools for one request to a model. */
export interface ToolOffer<P extends Provider> {
  readonly provider: P;
  /** `search`: only the tools that find and call the others. */
  readonly kind: "whole" | "search";
  /** For the request as it is. */
  readonly tools: ProviderTools[P];
  /** What the provider's form could not say, a sentence each; our own check of the arguments stays. */
  readonly notes: readonly string[];
  /** Estimates: of this offer, and of all tools. */
  readonly tokens: number;
  readonly wholeTokens: number;
  /**
   * One governed call of what the model named, like `Turn.call`.
   * @param input as the provider gives it: an object, or JSON text.
   */
  call(name: string, input: unknown, options?: CallOptions): Promise<Outcome>;
}

export interface ToolTarget {
  readonly server: string;
  readonly tool: string;
}

export interface Explanation {
  readonly target: ToolTarget;
  readonly exposedName: string | null;
  readonly decision: Decision;
  /** What a person would be asked, where they would be. */
  readonly sentence: string | null;
  /** What is wrong with the arguments; `null` where nothing is. */
  readonly argumentProblem: string | null;
  readonly arguments: JsonObject;
}

export interface ActivityFilter {
  readonly callId?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: Principal;
  /** Epoch milliseconds. */
  readonly fromMs?: number;
  readonly limit?: number;
}

export interface Host {
  readonly config: Config;
  turn(options?: TurnOptions): Turn;
  /** One call by server and tool, in a turn of its own: for faces where a person names the tool. */
  call(target: ToolTarget, args: JsonObject | string, options?: SingleCallOptions): Promise<Outcome>;
  /** What a call would be decided as, and why, without doing or recording anything. */
  explain(target: ToolTarget, args: JsonObject, options?: TurnOptions): Promise<Explanation>;
  /** Reads one resource with the same care as a call. */
  read(server: string, uri: string, options?: CallOptions & TurnOptions): Promise<ReadOutcome>;
  /** Gets one prompt with the same care as a call. */
  prompt(
    server: string,
    name: string,
    args: JsonObject,
    options?: CallOptions & TurnOptions,
  ): Promise<ReadOutcome>;
  /**
   * Hears of changes of a resource, until it is closed or the host is. Several changes at once are told once.
   * @param uri exposed, as of `Turn.resources()`.
   * @throws PortcullisError `unknown_server`, `server_paused`, `outside_rollout`, `remote_error` where the server tells no changes.
   */
  watch(
    uri: string,
    onUpdated: () => void,
    options?: { readonly principal?: Principal; readonly signal?: AbortSignal },
  ): Promise<Watch>;
  /**
   * All tools, also those that are off or quarantined.
   * @param options.refresh ask the servers; default: what is known, asking only servers never seen.
   */
  tools(options?: {
    readonly server?: string;
    readonly refresh?: boolean;
    readonly signal?: AbortSignal;
  }): Promise<readonly ToolView[]>;
  /** @param options.check ask each server for a sign of life first. */
  status(options?: {
    readonly server?: string;
    readonly check?: boolean;
    readonly signal?: AbortSignal;
  }): Promise<StatusReport>;
  readonly approvals: {
    list(): Promise<readonly ApprovalView[]>;
    answer(id: string, answer: AnswerInput): Promise<AnswerReport>;
    answerGroup(
      group: string,
      answer: Omit<AnswerInput, "verdict" | "without" | "typed"> & {
        readonly seen: readonly string[];
        readonly without: readonly number[];
      },
    ): Promise<readonly (AnswerReport | { readonly id: string; readonly error: PortcullisError })[]>;
  };
  /** Standing approvals: what there is, and taking one back. @returns whether there was one. */
  readonly grants: {
    list(): Promise<readonly GrantView[]>;
    revoke(id: string, by: Principal): Promise<boolean>;
  };
  /**
   * Takes a call back, once, while it can be: itself a governed, recorded call.
   * @throws PortcullisError `undo_gone` where it cannot be (any more).
   */
  undo(callId: string, options?: SingleCallOptions): Promise<Outcome>;
  activity(filter?: ActivityFilter): Promise<readonly ActivityView[]>;
  /** What `policy` would have decided on the recorded calls, newest first, without doing anything. Default: the last 1,000. */
  replay(policy: Config, filter?: ActivityFilter): Promise<ReplayReport>;
  /**
   * The security checklist, each line with its evidence.
   * @param proofs of `check --live`, just made; without them the last ones count.
   */
  check(proofs?: readonly LiveProof[] | null, signal?: AbortSignal): Promise<CheckReport>;
  /** Checks that no record was changed or taken out. */
  verify(): Promise<AuditVerdict>;
  /** The records themselves, oldest first, as JSON Lines: each with its place in its chain and its hash. */
  exportRecords(filter?: Omit<ActivityFilter, "limit">): AsyncIterable<string>;
  /** Accepts definitions, and a server's instructions where no tool is named. @returns the exposed names accepted. */
  accept(target: AcceptTarget, by: Principal): Promise<readonly string[]>;
  /** New and changed definitions and instructions, as readable text. */
  review(server?: string): Promise<readonly ReviewItem[]>;
  reconnect(server?: string): Promise<void>;
  /**
   * Logs a person in to a remote server. `interaction` asks them, shows the address and brings the answer back: nothing outside
   * the server's own origin is contacted, and no browser opened, before they agreed. The tokens are stored, sealed.
   * @throws PortcullisError `usage` where there is nobody to log in, `cancelled` where they said no, `auth_failed`,
   * `egress_denied`, `timed_out`, `http_error`.
   */
  login(server: string, interaction: Interaction, options?: LoginOptions): Promise<LoginReport>;
  /** Revokes the tokens where the authorization server lets us, and forgets them. */
  logout(server: string, options?: LoginOptions): Promise<LogoutReport>;
  /**
   * Installs the exact version of a server's package with a lock file and without scripts, records its integrity, and starts it
   * from there from now on. Only the exact version is written into the configuration.
   * @throws PortcullisError `usage` where there is nothing to lock, `server_blocked` where it cannot be, what npm ends with.
   */
  lock(server: string, by: Principal, signal?: AbortSignal): Promise<LockReport>;
  /** Takes a lock back: the runner fetches the package again. @returns whether there was one. */
  unlock(server: string, by: Principal): Promise<boolean>;
  /** The kill switch: nothing is sent to the server (or to any) until `resume`. Survives a restart. */
  pause(server: string | null, by: Principal): Promise<void>;
  resume(server: string | null, by: Principal): Promise<void>;
  /** Takes over another configuration: touches only servers whose entry changed. */
  reload(config: Config): Promise<void>;
  /**
   * Edits the configuration file in place and takes it over.
   * @throws PortcullisError `usage` where the configuration was given in code, `config_changed`, `config_invalid`.
   */
  edit(edit: ConfigEdit): Promise<{ readonly file: string }>;
  /** @returns the end of it. */
  onEvent(listener: (event: HostEvent) => void, options?: ListenOptions): () => void;
  /**
   * What was held back of a call, for a person; with `release` its owner may read it from now on, for as long as it is kept
   * (an hour). @throws PortcullisError `not_found` where nothing is kept of it.
   */
  held(callId: string, release: { readonly by: Principal } | null): Promise<HeldResult>;
  /** Pages of an over-long result. */
  readMore(
    restId: string,
    principal: Principal,
    page: number,
  ): Promise<{ readonly text: string; readonly page: number; readonly pages: number } | undefined>;
  /** Ends everything within `deadlineMs` (default 5,000). @returns what would not stop, and calls that were cut off. */
  close(deadlineMs?: number): Promise<CloseSummary>;
}

export interface CheckReport {
  readonly asOf: string;
  readonly file: string | null;
  /** No line fails. */
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly lines: readonly CheckLine[];
}

export interface LockReport {
  readonly server: string;
  readonly package: string;
  readonly version: string;
  /** As the registry gives it, for example `sha512-…`. */
  readonly integrity: string;
  /** Hex SHA-256 of the lock file, and over everything that was installed. */
  readonly lockHash: string;
  readonly treeHash: string;
  /** How many packages were installed. */
  readonly packages: number;
  /** Packages whose install scripts were not run. */
  readonly scriptsNotRun: readonly string[];
  readonly hasChangedConfig: boolean;
}

export interface HeldResult {
  readonly callId: string;
  /** Whose call it was. */
  readonly principal: Principal;
  readonly findings: readonly Finding[];
  /** Its first page: cleaned, hidden characters visible. */
  readonly text: string;
  readonly pages: number;
  /** Whether the model may read it. */
  readonly isReleased: boolean;
}

export interface AcceptTarget {
  readonly server: string;
  readonly tool?: string;
  /** Only these (`ReviewItem.definition`), as they were shown; default: whatever is there now. */
  readonly definitions?: readonly string[];
}

export interface ReviewItem {
  readonly kind: "tool" | "instructions";
  readonly server: string;
  /** As the server wrote it; `null` for its instructions. */
  readonly tool: string | null;
  /** Exposed. */
  readonly name: string | null;
  readonly pin: "new" | "changed";
  /** The hash of what is shown. */
  readonly definition: string;
  /** Why it cannot be used until it is accepted; `null` where it can. */
  readonly held: string | null;
  /** What is suspicious about it. */
  readonly findings: readonly Finding[];
  readonly diff: string;
}

export interface CloseSummary {
  /** How many calls were cut off: closed as interrupted. */
  readonly cutOff: number;
  /** Which ones. */
  readonly calls: readonly { readonly callId: string; readonly server: string; readonly tool: string }[];
  /** Connections that would not end. */
  readonly remains: readonly string[];
}
