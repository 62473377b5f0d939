/**
 * One error class and one closed table of codes. The code carries the meaning; the message is for people and is never
 * matched on. Conversion from errno, HTTP status, JSON-RPC and OAuth errors happens at the edges, once, in a file named
 * after the edge.
 */

/** How a retry by itself could help: never · the same call again later · after the arguments or the world were changed. */
export type RetryAdvice = "no" | "later" | "changed";

export interface ErrorCodeRow {
  /** Exit code of the CLI. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 70 | 130;
  /** Status of the admin API. */
  readonly httpStatus: number;
  readonly retry: RetryAdvice;
  /** What the reader should do next, one sentence. */
  readonly help: string;
}

const table = {
  // usage and configuration
  usage: row(2, 400, "changed", "Run the command with --help and correct it."),
  config_not_found: row(
    2,
    404,
    "changed",
    "Create one with `portcullis init`, or name it with --config FILE.",
  ),
  config_invalid: row(2, 400, "changed", "Correct the configuration at the place named."),
  config_not_yet: row(2, 501, "changed", "Remove the key: this version does not implement it yet."),
  config_untrusted: row(3, 403, "changed", "Read the file, then accept it with `portcullis trust`."),
  config_changed: row(2, 409, "later", "Somebody else wrote the file meanwhile: look at it and try again."),
  secret_unresolved: row(
    2,
    400,
    "changed",
    "Set the variable, file or keychain entry that the reference names.",
  ),
  unknown_server: row(2, 404, "changed", "Add the server to the configuration, or correct its name."),
  unknown_tool: row(2, 404, "changed", "Choose one of the tools that are listed."),
  not_found: row(2, 404, "changed", "Look for its name in the list of its kind, and correct it."),
  server_blocked: row(5, 409, "changed", "Do what the reason says, then reconnect."),
  state_unusable: row(
    70,
    500,
    "changed",
    "Look at the state directory (its owner, its mode, the space left), or at the database that `store` names.",
  ),
  state_newer: row(2, 409, "changed", "The state was written by a newer version: upgrade Portcullis."),
  address_in_use: row(
    2,
    409,
    "changed",
    "Stop what listens there, or name another address in `gateway.listen`.",
  ),
  gateway_running: row(2, 409, "changed", "Use the one that runs, or stop it first."),
  node_too_old: row(2, 500, "changed", "Run it with Node.js 22.19 or newer."),

  // refused by policy or by a person
  tool_off: row(3, 403, "no", "An operator can turn the tool on with `portcullis grade`."),
  tool_not_enabled: row(3, 403, "no", 'An L3 tool needs "enabled": true in its rule.'),
  tool_quarantined: row(3, 403, "no", "An operator can look at it with `portcullis review`."),
  tool_changed: row(
    3,
    403,
    "no",
    "The definition changed: an operator can accept it with `portcullis review`.",
  ),
  outside_rollout: row(3, 403, "no", "An operator can widen the rollout of this server."),
  server_paused: row(3, 403, "later", "An operator can resume it with `portcullis resume`."),
  guard_denied: row(3, 403, "changed", "Change the arguments so that they pass the guard."),
  guard_failed: row(3, 500, "later", "The guard could not run, so the call was refused; see the log."),
  policy_denied: row(3, 403, "no", "See `portcullis explain SERVER TOOL`."),
  approval_needed: row(
    3,
    403,
    "changed",
    "Run it in a terminal, add --yes, or add --wait and answer it in the inbox.",
  ),
  approval_denied: row(3, 403, "no", "A person said no; do not ask again without a change."),
  approval_expired: row(
    3,
    408,
    "later",
    "Nobody answered in time; make the call again when somebody can answer.",
  ),
  approval_stale: row(3, 409, "changed", "The arguments or the tool changed since it was asked: ask again."),
  undo_gone: row(3, 410, "no", "A call can be taken back once, within 30 seconds, where its rule says how."),
  confirmation_needed: row(3, 403, "changed", "An L3 call needs --yes and --confirm TOOL."),
  audit_unavailable: row(
    70,
    507,
    "later",
    "The record could not be written, so nothing was sent; free space and try again.",
  ),

  // arguments
  invalid_arguments: row(4, 422, "changed", "Correct the arguments as the hint says."),

  // the tool itself
  tool_error: row(1, 200, "changed", "The tool ran and reported an error of its own."),

  // availability, time, protocol
  server_unavailable: row(
    5,
    503,
    "later",
    "Look at `portcullis status`; `portcullis reconnect` tries again now.",
  ),
  spawn_failed: row(5, 502, "changed", "Check the command, its arguments and the working directory."),
  process_exited: row(
    5,
    502,
    "later",
    "The server's process ended; its own last words on stderr, where it had any, say more.",
  ),
  connection_lost: row(5, 502, "later", "The connection broke; look at `portcullis status`."),
  connect_timeout: row(5, 504, "later", "The server did not get ready in time."),
  breaker_open: row(
    5,
    503,
    "later",
    "The server failed too often; it is tried again by itself after a while.",
  ),
  queue_full: row(5, 503, "later", "Too many calls wait for this server; try again later."),
  rate_limited: row(5, 429, "later", "Wait as long as the message says."),
  retry_budget_spent: row(5, 503, "later", "The retries of this turn are used up."),
  timed_out: row(
    5,
    504,
    "later",
    "The server did not answer in time; raise the limit or look at the server.",
  ),
  incompatible: row(5, 502, "changed", "Upgrade the side that the message names."),
  protocol_error: row(
    5,
    502,
    "no",
    "The server answered something that is not MCP; report it to its author.",
  ),
  message_too_large: row(5, 502, "changed", "Ask for less, or raise the limit for this server."),
  remote_error: row(5, 502, "changed", "The server answered with a JSON-RPC error."),
  http_error: row(5, 502, "later", "The server answered with an HTTP error."),
  session_lost: row(5, 502, "later", "The server forgot the session; a new one is made by itself."),
  input_refused: row(5, 403, "no", "The server asked for something that it is not allowed to ask."),
  egress_denied: row(5, 403, "changed", "The address is outside what the configuration allows."),

  // authorization
  auth_required: row(6, 401, "changed", "Log in with `portcullis login SERVER`."),
  auth_failed: row(6, 401, "changed", "Log in again with `portcullis login SERVER`."),

  // ends
  cancelled: row(130, 499, "no", "The caller gave up."),
  interrupted: row(130, 503, "later", "Portcullis was shut down meanwhile."),
  internal: row(70, 500, "no", "This is a fault of Portcullis: please report it."),
} as const satisfies Record<string, ErrorCodeRow>;

function row(
  exitCode: ErrorCodeRow["exitCode"],
  httpStatus: number,
  retry: RetryAdvice,
  help: string,
): ErrorCodeRow {
  return { exitCode, httpStatus, retry, help };
}

export type ErrorCode = keyof typeof table;

/** The closed table: what each code means for a shell, an HTTP client and a reader. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeRow>> = table;

/** True for one of the codes of the table. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(table, value);
}

export interface PortcullisErrorOptions {
  /** The original, always. */
  readonly cause?: unknown;
  /** What code may read: names, numbers, positions. Never a secret, never unbounded text of a server. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The only error that Portcullis throws on purpose. */
export class PortcullisError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  /**
   * @param code one of the table.
   * @param message lower-case, names the thing, quotes the value, says what to do where the table's help does not.
   */
  constructor(code: ErrorCode, message: string, options: PortcullisErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PortcullisError";
    this.code = code;
    this.data = Object.freeze({ ...options.data });
  }
}

/** `error` itself where it is ours, otherwise wrapped as `code` (default `internal`) with the original as its cause. */
export function toPortcullisError(error: unknown, code: ErrorCode = "internal"): PortcullisError {
  if (error instanceof PortcullisError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PortcullisError(code, message, { cause: error });
}
