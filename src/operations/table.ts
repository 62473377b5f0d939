/** Every verb by its name: what the CLI and the admin API offer. */
import { activity, audit } from "./activity.ts";
import { remove } from "./add.ts";
import { approvals, approve, deny, grants, revoke } from "./approvals.ts";
import { callTool } from "./call-tool.ts";
import { check } from "./check.ts";
import { explain } from "./explain.ts";
import { getPrompt } from "./get-prompt.ts";
import { grade, rollout } from "./grade.ts";
import type { Operation } from "./operation.ts";
import { lock } from "./lock.ts";
import { loginFinish, loginStart, logout } from "./login.ts";
import { pause, reconnect, resume } from "./pause.ts";
import { readResource } from "./read-resource.ts";
import { replay } from "./replay.ts";
import { release } from "./release.ts";
import { review } from "./review.ts";
import { status } from "./status.ts";
import { suggest } from "./suggest.ts";
import { tools } from "./tools.ts";
import { undo } from "./undo.ts";

const all = [
  activity,
  approvals,
  approve,
  audit,
  callTool,
  check,
  deny,
  explain,
  getPrompt,
  grade,
  grants,
  lock,
  loginFinish,
  loginStart,
  logout,
  pause,
  readResource,
  reconnect,
  release,
  remove,
  replay,
  resume,
  review,
  revoke,
  rollout,
  status,
  suggest,
  tools,
  undo,
] as const;

export type OperationName = (typeof all)[number]["name"];

export const operations: ReadonlyMap<string, Operation> = new Map(
  all.map((operation) => [operation.name, operation as unknown as Operation]),
);
