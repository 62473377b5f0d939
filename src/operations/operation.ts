/**
 * One verb, several faces: CLI, admin API and console call the same operation with the same schema. An operation has no
 * rules of its own; it turns a checked input into calls of the host and answers with what `--json` prints.
 */
import { z } from "zod";
import { timeOfId } from "../base/random.ts";
import { describeIssue } from "../config/check.ts";
import { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import type { Principal } from "../vocabulary.ts";

export interface OperationContext {
  readonly host: Host;
  /** Who asks. */
  readonly by: Principal;
  readonly channel: "terminal" | "console";
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
}

export interface Operation<Input extends z.ZodType = z.ZodType, Output = unknown> {
  /** As in `POST /api/operations/NAME`. */
  readonly name: string;
  readonly summary: string;
  readonly input: Input;
  /** Needs living servers: a running gateway on the same state does it rather than a second copy. */
  readonly isLive: boolean;
  readonly run: (context: OperationContext, input: z.output<Input>) => Promise<Output>;
}

/** Ties the types of an operation together. */
export function defineOperation<Input extends z.ZodType, Output>(
  operation: Operation<Input, Output>,
): Operation<Input, Output> {
  return operation;
}

/** Checks the input and runs. @throws PortcullisError `usage` that names the members that are wrong, and what `run` throws. */
export async function runOperation<Input extends z.ZodType, Output>(
  operation: Operation<Input, Output>,
  context: OperationContext,
  input: unknown,
): Promise<Output> {
  const checked = operation.input.safeParse(input, { error: describeIssue });
  if (!checked.success) {
    const problems = checked.error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `\`${path.join(".")}\`: ${message}`,
    );
    throw new PortcullisError("usage", `${operation.name}: ${problems.join("; ")}`, { data: { problems } });
  }
  return operation.run(context, checked.data);
}

const NAME_MAX = 512;

/** An id that the caller chose for its call. */
export const callIdInput = z.string().refine((id) => timeOfId(id) !== undefined, "is no id of a call");

/** Names of servers, tools and ids in inputs: bounded, not empty. */
export const nameInput = z.string().min(1).max(NAME_MAX);
