/**
 * Portcullis for agents in TypeScript: open a host, open a turn, offer its tools, call them.
 *
 * ```ts
 * const host = await openHost({ config: "portcullis.json" });
 * const turn = host.turn({ principal: "alice", userText: "What is in the readme?" });
 * const tools = await turn.tools();
 * const outcome = await turn.call("files__read_text_file", { path: "README.md" });
 * await host.close();
 * ```
 */
export { openHost } from "./host/host.ts";
export type {
  ActivityFilter,
  ApprovalCallback,
  CallbackAnswer,
  CallOptions,
  AcceptTarget,
  CloseSummary,
  Explanation,
  Host,
  HeldResult,
  HostOptions,
  OfferToolsOptions,
  ReviewItem,
  ToolOffer,
  ToolTarget,
  Turn,
  TurnOptions,
} from "./host/api.ts";
export type { CompletionOutcome, ReadOutcome, Watch } from "./host/read-outcome.ts";
export type { ActivityView, ServerStatus, StatusReport, ToolView } from "./host/views.ts";
export type { Outcome } from "./host/outcome.ts";
export type { LoginOptions } from "./host/authorization.ts";
export type { LoginReport, LogoutReport } from "./auth/authorization.ts";
export type { CallbackReceiver } from "./auth/callback.ts";
export type { Interaction, LoginQuestion, WantedRedirect } from "./auth/login.ts";
export { errorCodes, isErrorCode, PortcullisError } from "./errors.ts";
export type { ErrorCode, ErrorCodeRow, RetryAdvice } from "./errors.ts";
export type { InputAnswer, InputCallback, InputQuestion } from "./inputs/question.ts";
export type { FormField } from "./inputs/form.ts";
export type { Root, RootsSource } from "./inputs/roots.ts";
export type { SampleRequest, Sampling } from "./inputs/sampling.ts";
export type { Provider, ProviderTools } from "./registry/provider-form.ts";
export type {
  AiSdkTool,
  AnthropicTool,
  GeminiFunction,
  OpenAiChatTool,
  OpenAiResponsesTool,
} from "./registry/providers.ts";
export type { HostEvent, HostEventType } from "./telemetry/events.ts";
export type { ApprovalView } from "./approvals/view.ts";
export type { AnswerInput, AnswerReport } from "./approvals/answer.ts";
export type { AuditVerdict } from "./audit/verify.ts";
export type { Config, ConfigProblem, ServerConfig, ToolRule } from "./config/compiled.ts";
export type { ResolveSecret, SecretRequest } from "./config/secrets.ts";
export type { Decision, Reason } from "./policy/decision.ts";
export type { ContentBlock, Progress, Prompt, Resource, ResourceTemplate, Tool } from "./protocol/types.ts";
export type {
  ConnectionKey,
  Effect,
  Finding,
  Grade,
  OutcomeKind,
  Principal,
  Severity,
  Source,
} from "./vocabulary.ts";
