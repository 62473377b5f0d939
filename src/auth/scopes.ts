/** Which scopes to ask for (authorization#scope-selection-strategy). Pure. */

/** RFC 6749 §3.3: one scope. */
export const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

const OFFLINE = "offline_access";

export interface ScopeFacts {
  /** What the operator wrote: replaces what the server would like at first. */
  readonly configured: readonly string[];
  /** Of the challenge at hand; authoritative for the operation (AUTH-51). */
  readonly challenged: readonly string[] | null;
  /** `scopes_supported` of the resource. */
  readonly supported: readonly string[] | null;
  /** What the authorization server lists; `null` where it lists nothing. */
  readonly offered: readonly string[] | null;
  /** Asked for before, for this resource; kept when more is needed (AUTH-54). */
  readonly previous: readonly string[];
  /** The server refused an operation for want of scopes. */
  readonly isStepUp: boolean;
  /** A login of a person, who wants to stay logged in. */
  readonly wantsRefresh: boolean;
}

/**
 * The scopes of a request, without duplicates; empty: the parameter is left out.
 *
 * At first the operator's, else the challenge's, else all that the resource supports, else none (AUTH-52). A step-up asks for
 * the union of what was asked before and what is challenged now. `offline_access` only where the authorization server lists it
 * (AUTH-64), and never alone: asked alone it would take the place of the server's default scopes.
 */
export function chooseScopes(facts: ScopeFacts): readonly string[] {
  const offersOffline = facts.offered?.includes(OFFLINE) === true;
  const initial =
    facts.configured.length > 0
      ? facts.configured
      : (facts.challenged ?? (facts.supported ?? []).filter((scope) => scope !== OFFLINE || offersOffline));
  const scopes = new Set(
    facts.isStepUp ? [...facts.previous, ...initial, ...(facts.challenged ?? [])] : initial,
  );
  if (facts.wantsRefresh && offersOffline && scopes.size > 0) scopes.add(OFFLINE);
  return [...scopes];
}

/** Whether `granted` holds all of `wanted`. */
export function coversScopes(granted: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => granted.includes(scope));
}
