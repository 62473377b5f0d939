/** A waiting approval as people see it, in every face: the sentence first, then the table, the items, where values came from. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Grade, Principal } from "../vocabulary.ts";
import { itemsAt } from "./argument-path.ts";
import { detailRows, type ArgumentOrigin, type DetailRow } from "./details.ts";
import { inline, oneLine, type MakeVisible } from "./plain-text.ts";
import { sentenceFor, titleClaim } from "./sentence.ts";
import type { Shelf, Shelved } from "./shelf.ts";

/** One item of the list that is shown item by item. */
interface ItemView {
  /** Counted from 1; `without` counts from 0. */
  readonly number: number;
  readonly text: string;
  readonly value: JsonValue;
}

export interface ApprovalView {
  readonly id: string;
  readonly group: string;
  readonly number: number;
  /** The call that waits, or waited last. */
  readonly callId: string;
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  readonly exposedName: string;
  readonly grade: Grade;
  readonly sentence: string;
  /** The server's own title, as a quoted claim. */
  readonly claim: string | null;
  /** As they would be sent; `null` where the seal could not be opened: such a one can only be denied. */
  readonly arguments: JsonObject | null;
  readonly details: readonly DetailRow[];
  readonly items: readonly ItemView[] | null;
  readonly provenance: readonly ArgumentOrigin[];
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  readonly preview: string | null;
  /** What the second confirmation has to type; `null` where one is enough. */
  readonly toType: string | null;
  readonly confirmations: number;
  /** Whether a standing approval may be given with the answer, where the configuration allows them at all. */
  readonly mayGrant: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const MAX_ITEM = 200;

export async function viewOf(
  shelf: Shelf,
  shelved: Shelved,
  makeVisible: MakeVisible,
): Promise<ApprovalView> {
  const { approval } = shelved;
  const { server, tool, principal } = approval.binding;
  const known = {
    id: approval.id,
    group: approval.group,
    number: approval.number,
    callId: shelved.callId,
    principal,
    server,
    tool,
    exposedName: shelved.exposedName,
    grade: approval.grade,
    confirmations: approval.state.kind === "pending" ? approval.state.confirmations.length : 0,
    mayGrant: !shelved.needsPerson && approval.grade !== "L3",
    createdAt: approval.createdAt,
    expiresAt: approval.expiresAt,
  };
  const ask = await shelf.openAsk(shelved).catch(() => null);
  if (ask === null) {
    return {
      ...known,
      sentence: `${server} ${oneLine(tool, makeVisible)}, with arguments that cannot be read here`,
      claim: null,
      arguments: null,
      details: [],
      items: null,
      provenance: [],
      reasons: [],
      preview: null,
      toType: null,
      mayGrant: false,
    };
  }
  const before = await shelf.lastArguments(approval.binding);
  return {
    ...known,
    sentence: sentenceFor({ server, tool, arguments: ask.arguments, say: ask.say, makeVisible }),
    claim: titleClaim(server, tool, ask.title, makeVisible),
    arguments: ask.arguments,
    details: detailRows(ask.arguments, before, ask.origins, makeVisible),
    items:
      itemsAt(ask.arguments, ask.items)?.map((value, index) => ({
        number: index + 1,
        text: itemText(value, makeVisible),
        value,
      })) ?? null,
    provenance: ask.origins,
    reasons: ask.reasons,
    preview: ask.preview,
    toType: ask.toType,
  };
}

function itemText(item: JsonValue, makeVisible: MakeVisible): string {
  if (typeof item !== "object" || item === null || Array.isArray(item))
    return inline(item, MAX_ITEM, makeVisible);
  return Object.entries(item)
    .slice(0, 6)
    .map(([name, value]) => `${oneLine(name.slice(0, 80), makeVisible)} ${inline(value, 60, makeVisible)}`)
    .join(", ");
}
