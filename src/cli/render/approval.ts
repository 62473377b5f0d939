/** A waiting approval for people: the sentence first, the arguments as a table, what it rests on; no raw JSON. */
import type { DetailRow } from "../../approvals/details.ts";
import type { ApprovalView } from "../../approvals/view.ts";

export function renderApproval(approval: ApprovalView, nowMs: number): string {
  const leftS = Math.max(0, Math.round((approval.expiresAt - nowMs) / 1_000));
  return [
    `${approval.sentence}   [${approval.grade}]`,
    ...(approval.claim === null ? [] : [`  ${approval.claim}`]),
    ...approval.details.flatMap(renderRow),
    ...(approval.items ?? []).map((item) => `  ${item.number}. ${item.text}`),
    ...approval.reasons.map((reason) => `  because: ${reason.message}`),
    ...(approval.preview === null ? [] : ["  as it is now:", indent(approval.preview.trimEnd())]),
    `  id ${approval.id} · group ${approval.group} · for ${approval.principal} · ${leftS} s left`,
    ...(approval.toType === null
      ? []
      : [`  needs two confirmations: type \`${approval.toType}\` for the second (--confirm)`]),
  ].join("\n");
}

function indent(text: string): string {
  return text.replaceAll(/^/gmu, "    ");
}

/** What is cut here is whole in the console and with `--json`. */
const MAX_SHOWN = 800;

function renderRow(row: DetailRow): string[] {
  const value =
    row.value.length > MAX_SHOWN
      ? `${row.value.slice(0, MAX_SHOWN)}… (${row.characters} characters, whole with --json)`
      : row.value;
  const change =
    row.change === "changed"
      ? `   (last time: ${row.before ?? ""})`
      : row.change === "removed"
        ? "   (gone since last time)"
        : "";
  return [
    `  ${row.name}: ${value.replaceAll("\n", "\n    ")}${change}`,
    ...row.origins.map((origin) => `    ← ${origin}`),
  ];
}

interface Answered {
  readonly answered: readonly {
    readonly id: string;
    readonly state: string;
    readonly toType?: string | null;
  }[];
}

export function renderAnswers({ answered }: Answered): string {
  return answered
    .map(({ id, state, toType }) =>
      state === "pending"
        ? `${id}: one more confirmation, type \`${toType ?? ""}\` with --confirm`
        : `${id}: ${state}`,
    )
    .join("\n");
}
