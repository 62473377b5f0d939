/**
 * Standing approvals: "this tool, for this session / for an hour / with these arguments". Off unless the operator turns them
 * on (docs/adr/0012-grants.md says why they exist all the same).
 *
 * Invariants: never for L3, never given over an ask that needs a person (provenance, flow); bound to principal, server, tool
 * and pin, and void for good as soon as another pin is seen; limited in time and in number of uses; listed and revocable.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents, StoredDocument } from "../store/store.ts";
import type { CallBinding, Grade, Principal } from "../vocabulary.ts";
import type { Channel } from "./approval.ts";
import type { Seal } from "./shelf.ts";

export type GrantScope = "session" | "hour" | "arguments";

interface Grant {
  readonly id: string;
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  readonly pin: string;
  readonly scope: GrantScope;
  /** The conversation of scope `session`. */
  readonly session: string | null;
  /** Digest of the arguments of scope `arguments`. */
  readonly digest: string | null;
  readonly by: Principal;
  readonly channel: Channel;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usesLeft: number;
}

export interface GrantView extends Grant {
  /** What was approved when it was given; `null` where it cannot be read here. */
  readonly sentence: string | null;
}

export interface GrantRequest {
  readonly call: CallBinding;
  readonly grade: Grade;
  readonly needsPerson: boolean;
  readonly scope: GrantScope;
  readonly session: string | null;
  readonly by: Principal;
  readonly channel: Channel;
  readonly sentence: string;
}

/** Longest life and most uses. */
export const GRANT_LIMITS: Readonly<Record<GrantScope, { readonly lifeMs: number; readonly uses: number }>> =
  {
    session: { lifeMs: 8 * 60 * 60 * 1_000, uses: 50 },
    hour: { lifeMs: 60 * 60 * 1_000, uses: 50 },
    arguments: { lifeMs: 24 * 60 * 60 * 1_000, uses: 20 },
  };

export type GrantChange = {
  readonly kind: "given" | "used" | "revoked" | "void";
  readonly grant: Grant;
  readonly by: Principal | null;
};

export interface Grants {
  readonly isOn: boolean;
  /** @throws PortcullisError `policy_denied` where none may be given, `usage` for a session without a conversation. */
  give(request: GrantRequest): Promise<Grant>;
  /** The grant that covers a call, narrowest first; `undefined` where there is none or they are off. Fits `evaluate`. */
  find(call: CallBinding, session: string | null): Promise<GrantMatch | undefined>;
  /** Takes one use, just before the call is sent. @returns false where it is gone or used up meanwhile: then ask. */
  use(id: string): Promise<boolean>;
  list(): Promise<readonly GrantView[]>;
  /** @returns whether there was one. */
  revoke(id: string, by: Principal): Promise<boolean>;
}

interface GrantMatch {
  readonly id: string;
  readonly binding: Omit<CallBinding, "digest"> & { readonly digest: string | null };
  readonly expiresAt: number;
  readonly usesLeft: number;
}

export interface GrantsOptions {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly random: Random;
  readonly seal: Seal;
  /** `approvals.grants` of the configuration, read each time: turning it off ends what was given. */
  readonly isOn: () => boolean;
  /** For the audit. */
  readonly onChange?: (change: GrantChange) => void;
}

interface KeptGrant {
  readonly grant: Grant;
  readonly sealedSentence: string;
}

/** @throws PortcullisError `policy_denied`. */
export function assertMayGrant(isOn: boolean, grade: Grade, needsPerson: boolean): void {
  if (!isOn) throw new PortcullisError("policy_denied", "standing approvals are off (`approvals.grants`)");
  if (grade === "L3")
    throw new PortcullisError("policy_denied", "there is no standing approval for L3 calls");
  if (needsPerson)
    throw new PortcullisError(
      "policy_denied",
      "this call is suspicious by itself, so it gives no standing approval",
    );
}

export function createGrants({
  documents,
  clock,
  random,
  seal,
  isOn,
  onChange = () => undefined,
}: GrantsOptions): Grants {
  const readAll = async (
    prefix: string,
  ): Promise<readonly { readonly key: string; readonly version: number; readonly kept: KeptGrant }[]> => {
    const now = clock.now();
    const found = await documents.list("grants", prefix);
    return found.map(toKept).filter(({ kept }) => kept.grant.expiresAt > now && kept.grant.usesLeft > 0);
  };

  return {
    get isOn() {
      return isOn();
    },
    async give({ call, grade, needsPerson, scope, session, by, channel, sentence }) {
      assertMayGrant(isOn(), grade, needsPerson);
      if (scope === "session" && session === null)
        throw new PortcullisError("usage", "this call belongs to no session");
      const now = clock.now();
      const { lifeMs, uses } = GRANT_LIMITS[scope];
      const { principal, server, tool, pin } = call;
      const grant: Grant = {
        id: random.bytes(5).toString("hex"),
        principal,
        server,
        tool,
        pin,
        scope,
        session: scope === "session" ? session : null,
        digest: scope === "arguments" ? call.digest : null,
        by,
        channel,
        createdAt: now,
        expiresAt: now + lifeMs,
        usesLeft: uses,
      };
      const sealedSentence = await seal.seal(sentence, contextOf(grant));
      await documents.put("grants", keyOf(grant), { grant, sealedSentence } as unknown as JsonValue, {
        ifVersion: 0,
        expiresAt: grant.expiresAt,
      });
      onChange({ kind: "given", grant, by });
      return grant;
    },
    async find(call, session) {
      if (!isOn()) return undefined;
      const usable: Grant[] = [];
      for (const { key, kept } of await readAll(prefixOf(call))) {
        const { grant } = kept;
        if (grant.pin !== call.pin) {
          // Gone for good, so that a definition that changes back does not bring it back.
          if (await documents.delete("grants", key)) onChange({ kind: "void", grant, by: null });
        } else if (covers(grant, call, session)) usable.push(grant);
      }
      const [best] = usable.sort(
        (one, other) => NARROWEST.indexOf(one.scope) - NARROWEST.indexOf(other.scope),
      );
      if (best === undefined) return undefined;
      const { principal, server, tool, pin, digest } = best;
      return {
        id: best.id,
        binding: { principal, server, tool, pin, digest },
        expiresAt: best.expiresAt,
        usesLeft: best.usesLeft,
      };
    },
    async use(id) {
      for (;;) {
        if (!isOn()) return false;
        const found = (await readAll("")).find(({ kept }) => kept.grant.id === id);
        if (found === undefined) return false;
        const grant = { ...found.kept.grant, usesLeft: found.kept.grant.usesLeft - 1 };
        const value = { ...found.kept, grant } as unknown as JsonValue;
        const options = { ifVersion: found.version, expiresAt: grant.expiresAt };
        if ((await documents.put("grants", found.key, value, options)) === undefined) continue;
        onChange({ kind: "used", grant, by: null });
        return true;
      }
    },
    async list() {
      const all = await readAll("");
      return Promise.all(
        all.map(async ({ kept }) => {
          const sentence = await Promise.resolve()
            .then(() => seal.open(kept.sealedSentence, contextOf(kept.grant)))
            .catch(() => null);
          return { ...kept.grant, sentence };
        }),
      );
    },
    async revoke(id, by) {
      const found = (await readAll("")).find(({ kept }) => kept.grant.id === id);
      if (found === undefined || !(await documents.delete("grants", found.key))) return false;
      onChange({ kind: "revoked", grant: found.kept.grant, by });
      return true;
    },
  };
}

const NARROWEST: readonly GrantScope[] = ["arguments", "session", "hour"];

/** Whether a grant speaks about a call; time and uses are another matter. */
function covers(grant: Grant, call: CallBinding, session: string | null): boolean {
  if (
    grant.principal !== call.principal ||
    grant.server !== call.server ||
    grant.tool !== call.tool ||
    grant.pin !== call.pin
  )
    return false;
  switch (grant.scope) {
    case "hour":
      return true;
    case "session":
      return grant.session !== null && grant.session === session;
    case "arguments":
      return grant.digest === call.digest;
  }
}

function prefixOf({ principal, server, tool }: Pick<CallBinding, "principal" | "server" | "tool">): string {
  return `${createHash("sha256")
    .update(JSON.stringify([principal, server, tool]))
    .digest("hex")
    .slice(0, 32)}/`;
}

function keyOf(grant: Grant): string {
  return `${prefixOf(grant)}${grant.id}`;
}

function contextOf(grant: Grant): string {
  return `grant ${grant.id}`;
}

function toKept({ key, version, value }: StoredDocument): {
  readonly key: string;
  readonly version: number;
  readonly kept: KeptGrant;
} {
  return { key, version, kept: value as unknown as KeptGrant };
}
