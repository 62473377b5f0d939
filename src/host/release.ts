/**
 * Held-back results: what a person is shown of one, and letting its owner read it. The text itself never reaches a model by this
 * way; `portcullis__read_more` reads it, marked, once it is released.
 */
import { PortcullisError } from "../errors.ts";
import { cleanForPerson } from "../text/clean.ts";
import { inspectText } from "../text/scan.ts";
import type { Principal } from "../vocabulary.ts";
import type { HeldResult } from "./api.ts";
import type { Core } from "./core.ts";

/**
 * @param release `by` lets the owner of the call read it; `null`: only look.
 * @throws PortcullisError `not_found` where nothing is kept of that call (any more).
 */
export async function lookAtHeld(
  core: Core,
  callId: string,
  release: { readonly by: Principal } | null,
): Promise<HeldResult> {
  const front = await core.rests.front(callId);
  if (front === undefined) throw gone(callId);
  const { principal, text, pages } = front;
  if (release !== null) {
    // On record before it happens: a release that cannot be recorded is none.
    await core.audit.note("result.released", { callId, principal, by: release.by });
    if (!(await core.rests.release(callId))) throw gone(callId);
  }
  return {
    callId,
    principal,
    findings: inspectText(text, "result"),
    text: cleanForPerson(text),
    pages,
    isReleased: front.isReleased || release !== null,
  };
}

function gone(callId: string): PortcullisError {
  return new PortcullisError("not_found", `nothing is kept of the call \`${callId}\` (any more)`);
}
