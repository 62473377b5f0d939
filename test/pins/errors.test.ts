/** The error table as outsiders rely on it: codes, exit codes, HTTP status, retry advice. */
import { expect, it } from "vitest";
import { errorCodes } from "../../src/errors.ts";

it("each code means what it always meant", () => {
  const rows = Object.entries(errorCodes).map(
    ([code, row]) => `${code} ${row.exitCode} ${row.httpStatus} ${row.retry}`,
  );
  expect(rows).toEqual(
    `usage 2 400 changed
config_not_found 2 404 changed
config_invalid 2 400 changed
config_not_yet 2 501 changed
config_untrusted 3 403 changed
config_changed 2 409 later
secret_unresolved 2 400 changed
unknown_server 2 404 changed
unknown_tool 2 404 changed
not_found 2 404 changed
server_blocked 5 409 changed
state_unusable 70 500 changed
state_newer 2 409 changed
address_in_use 2 409 changed
gateway_running 2 409 changed
node_too_old 2 500 changed
tool_off 3 403 no
tool_not_enabled 3 403 no
tool_quarantined 3 403 no
tool_changed 3 403 no
outside_rollout 3 403 no
server_paused 3 403 later
guard_denied 3 403 changed
guard_failed 3 500 later
policy_denied 3 403 no
approval_needed 3 403 changed
approval_denied 3 403 no
approval_expired 3 408 later
approval_stale 3 409 changed
undo_gone 3 410 no
confirmation_needed 3 403 changed
audit_unavailable 70 507 later
invalid_arguments 4 422 changed
tool_error 1 200 changed
server_unavailable 5 503 later
spawn_failed 5 502 changed
process_exited 5 502 later
connection_lost 5 502 later
connect_timeout 5 504 later
breaker_open 5 503 later
queue_full 5 503 later
rate_limited 5 429 later
retry_budget_spent 5 503 later
timed_out 5 504 later
incompatible 5 502 changed
protocol_error 5 502 no
message_too_large 5 502 changed
remote_error 5 502 changed
http_error 5 502 later
session_lost 5 502 later
input_refused 5 403 no
egress_denied 5 403 changed
auth_required 6 401 changed
auth_failed 6 401 changed
cancelled 130 499 no
interrupted 130 503 later
internal 70 500 no`.split("\n"),
  );
});

it("every row says what to do, in a sentence", () => {
  for (const { help } of Object.values(errorCodes)) expect(help).toMatch(/^[A-Z].{10,120}\.$/);
});
