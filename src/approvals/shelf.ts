/**
 * How approvals lie in the store: collection `approvals`, `a/ID` for those that wait or were just answered, `c/ID` for the
 * sealed arguments of used ones, `l/TOOL` for which one was the last of its tool.
 *
 * Invariants: every write is a compare-and-set; arguments and everything that is made of them are only ever stored sealed,
 * waiting ones until their expiry, used ones for `RETAINED_MS`; a denied or expired one keeps no arguments.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { toPortcullisError } from "../errors.ts";
import type { Documents } from "../store/store.ts";
import type { CallBinding } from "../vocabulary.ts";
import type { Approval } from "./approval.ts";
import type { ArgumentOrigin } from "./details.ts";

/** Seals text for the store and opens it again; `context` is bound into the seal. Handed in by the host. */
export interface Seal {
  seal(text: string, context: string): string | Promise<string>;
  open(sealed: string, context: string): string | Promise<string>;
}

/** What is shown to a person and kept sealed. */
export interface SealedAsk {
  readonly arguments: JsonObject;
  readonly say: string | null;
  readonly items: string | null;
  readonly title: string | null;
  readonly origins: readonly ArgumentOrigin[];
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  readonly preview: string | null;
  readonly toType: string | null;
}

/** One approval as stored; `toType` of the approval is inside the seal. */
export interface Shelved {
  readonly approval: Approval;
  readonly sealed: string | null;
  /** Who waits for the answer now; `null` where the caller is gone. */
  readonly waiter: string | null;
  /** The call that waits, or waited last. */
  readonly callId: string;
  /** True once a denial has reached the call that asked. */
  readonly isDelivered: boolean;
  readonly exposedName: string;
  /** Conversation of the caller, for a grant for this session. */
  readonly session: string | null;
  /** Whether a standing approval may be given with the answer. */
  readonly needsPerson: boolean;
}

export interface ShelvedVersion {
  readonly shelved: Shelved;
  readonly version: number;
}

/** Used approvals keep their sealed arguments for seven days. */
const RETAINED_MS = 7 * 24 * 60 * 60 * 1_000;
/** Answered ones are told apart from unknown ones for so long. */
const TOMBSTONE_MS = 60 * 60 * 1_000;

export interface Shelf {
  create(shelved: Shelved): Promise<boolean>;
  read(id: string): Promise<ShelvedVersion | undefined>;
  list(): Promise<readonly ShelvedVersion[]>;
  /** @returns false where somebody else wrote meanwhile. */
  replace(before: ShelvedVersion, after: Shelved, now: number): Promise<boolean>;
  sealAsk(id: string, ask: SealedAsk): Promise<string>;
  /** @throws PortcullisError `state_unusable` where the seal cannot be opened. */
  openAsk(shelved: Shelved): Promise<SealedAsk>;
  /** Keeps the arguments of a used approval, as the last of its tool. */
  keepUsed(shelved: Shelved, now: number): Promise<void>;
  /** The arguments of the last approved call of this principal and tool, or `null`. */
  lastArguments(binding: CallBinding): Promise<JsonObject | null>;
}

export function createShelf(documents: Documents, seal: Seal): Shelf {
  const openText = async (sealed: string, id: string): Promise<SealedAsk> => {
    try {
      return JSON.parse(await seal.open(sealed, contextOf(id))) as SealedAsk;
    } catch (error) {
      throw toPortcullisError(error, "state_unusable");
    }
  };
  return {
    async create(shelved) {
      const options = { ifVersion: 0, expiresAt: shelved.approval.expiresAt };
      return (
        (await documents.put("approvals", `a/${shelved.approval.id}`, toJson(shelved), options)) !== undefined
      );
    },
    async read(id) {
      const found = await documents.get("approvals", `a/${id}`);
      return found === undefined ? undefined : { shelved: fromJson(found.value), version: found.version };
    },
    async list() {
      const found = await documents.list("approvals", "a/");
      return found.map(({ value, version }) => ({ shelved: fromJson(value), version }));
    },
    async replace(before, after, now) {
      const { kind } = after.approval.state;
      const isOpen = kind === "pending" || kind === "approved";
      const kept: Shelved = isOpen ? after : { ...after, sealed: null, waiter: null };
      const expiresAt = isOpen ? after.approval.expiresAt : now + TOMBSTONE_MS;
      const options = { ifVersion: before.version, expiresAt };
      return (
        (await documents.put("approvals", `a/${after.approval.id}`, toJson(kept), options)) !== undefined
      );
    },
    async sealAsk(id, ask) {
      return seal.seal(JSON.stringify(ask), contextOf(id));
    },
    async openAsk({ approval, sealed }) {
      if (sealed === null)
        throw toPortcullisError(
          new Error(`approval \`${approval.id}\` keeps no arguments`),
          "state_unusable",
        );
      return openText(sealed, approval.id);
    },
    async keepUsed({ approval, sealed }, now) {
      if (sealed === null) return;
      // A help for people and for the audit; what may be sent was settled by the compare-and-set before.
      const options = { expiresAt: now + RETAINED_MS, durable: false };
      await documents.put("approvals", `c/${approval.id}`, { id: approval.id, at: now, sealed }, options);
      await documents.put("approvals", lastKey(approval.binding), { id: approval.id }, options);
    },
    async lastArguments(binding) {
      const pointer = await documents.get("approvals", lastKey(binding));
      const id = isJsonObject(pointer?.value) ? pointer.value["id"] : undefined;
      if (typeof id !== "string") return null;
      const kept = await documents.get("approvals", `c/${id}`);
      const sealed = isJsonObject(kept?.value) ? kept.value["sealed"] : undefined;
      if (typeof sealed !== "string") return null;
      // A diff is a help, not a condition: what cannot be opened any more is only not shown.
      return openText(sealed, id).then(
        (ask) => ask.arguments,
        () => null,
      );
    },
  };
}

function contextOf(id: string): string {
  return `approval ${id}`;
}

function lastKey({ principal, server, tool }: CallBinding): string {
  return `l/${createHash("sha256")
    .update(JSON.stringify([principal, server, tool]))
    .digest("hex")
    .slice(0, 32)}`;
}

function toJson(shelved: Shelved): JsonValue {
  return { ...shelved, approval: { ...shelved.approval, toType: null } } as unknown as JsonValue;
}

function fromJson(value: JsonValue): Shelved {
  return value as unknown as Shelved;
}
