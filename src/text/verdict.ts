/**
 * From phrases to severities, while the text is read: which kinds were seen, which stand together, and whether the text around
 * them talks about attacks. Constant memory, whatever the text.
 */
import { ABOUT_WORDS, COMBINATIONS, COMBINATION_WORDS, LOW_COMBINATIONS, type Kind } from "./phrase-rules.ts";
import { UNITS_PER_WORD, type Hit } from "./phrases.ts";

/** What one kind came to. */
export interface KindVerdict {
  readonly kind: Kind;
  readonly severity: "silent" | "note" | "low" | "high";
  readonly count: number;
  /** The phrase that decided, as offsets. */
  readonly start: number;
  readonly end: number;
  /** The other kind that made it high. */
  readonly together: Kind | null;
}

const COMBINATION_UNITS = COMBINATION_WORDS * UNITS_PER_WORD;
const ABOUT_UNITS = ABOUT_WORDS * UNITS_PER_WORD;
const FAR_BACK = -1_000_000;

interface Partner {
  readonly kind: Kind;
  readonly severity: "low" | "high";
}

const partners = new Map<Kind, Partner[]>();
for (const [severity, lines] of [
  ["high", COMBINATIONS],
  ["low", LOW_COMBINATIONS],
] as const) {
  for (const line of lines) {
    const [first, others] = line.split(": ") as [Kind, string];
    for (const other of others.split(" ") as Kind[]) {
      addPartner(first, { kind: other, severity });
      addPartner(other, { kind: first, severity });
    }
  }
}

function addPartner(one: Kind, partner: Partner): void {
  const known = partners.get(one) ?? [];
  if (!known.some((other) => other.kind === partner.kind)) partners.set(one, [...known, partner]);
}

interface Running {
  severity: KindVerdict["severity"];
  count: number;
  start: number;
  end: number;
  together: Kind | null;
  lastPosition: number;
  lastHit: Hit;
  /** A phrase that is high unless a word about attacks still follows. */
  pending: { hit: Hit; together: Kind | null; isQuoted: boolean } | null;
}

export interface VerdictBuilder {
  hit(hit: Hit): void;
  /** A word about attacks (`isStrong`) or about examples was read. */
  about(position: number, isStrong: boolean): void;
  finish(): readonly KindVerdict[];
}

/** @param text what is read: quotes around a phrase and disguises inside it are looked up there. */
export function createVerdictBuilder(text: string): VerdictBuilder {
  const kinds = new Map<Kind, Running>();
  let lastAbout = FAR_BACK;
  let lastExample = FAR_BACK;

  const raise = (
    running: Running,
    hit: Hit,
    severity: KindVerdict["severity"],
    together: Kind | null,
  ): void => {
    if (RANK[severity] <= RANK[running.severity]) return;
    running.severity = severity;
    running.start = hit.start;
    running.end = hit.end;
    running.together = together;
  };
  const settle = (running: Running, position: number): void => {
    const { pending } = running;
    if (pending === null || position - pending.hit.position <= ABOUT_UNITS) return;
    raise(running, pending.hit, "high", pending.together);
    running.pending = null;
  };
  const propose = (running: Running, hit: Hit, together: Kind | null): void => {
    settle(running, hit.position);
    if (running.severity === "high" || running.pending !== null) return;
    const isQuoted = isQuotedAt(text, hit.start);
    if (hit.position - lastAbout <= ABOUT_UNITS) return;
    if (isMentioned(text, hit)) return;
    if (isQuoted && hit.position - lastExample <= ABOUT_UNITS) return;
    running.pending = { hit, together, isQuoted };
  };

  return {
    hit(hit) {
      let running = kinds.get(hit.kind);
      if (running === undefined) {
        const { start, end } = hit;
        running = {
          severity: "silent",
          count: 0,
          start,
          end,
          together: null,
          lastPosition: FAR_BACK,
          lastHit: hit,
          pending: null,
        };
        kinds.set(hit.kind, running);
      }
      running.count += 1;
      running.lastPosition = hit.position;
      running.lastHit = hit;
      raise(running, hit, hit.rule.severity, null);
      if (hit.rule.strong || (hit.rule.severity !== "silent" && isDisguised(text, hit)))
        propose(running, hit, null);
      for (const { kind: partner, severity } of partners.get(hit.kind) ?? []) {
        const other = kinds.get(partner);
        if (other === undefined || hit.position - other.lastPosition > COMBINATION_UNITS) continue;
        // The kind that says more carries the finding.
        if (
          hit.kind === "hidden-markup"
            ? other.severity === "silent"
            : partner === "hidden-markup" && running.severity === "silent"
        ) {
          // Pages hide menus and dialogs all the time; only what is a finding in the open too becomes more by it.
          if (severity === "high") continue;
        }
        if (severity === "low") raise(running, hit, "low", partner);
        else if (isMentioned(text, hit) || isMentioned(text, other.lastHit)) continue;
        else if (RANK[other.severity] > RANK[running.severity]) propose(other, other.lastHit, hit.kind);
        else propose(running, hit, partner);
      }
    },
    about(position, isStrong) {
      if (isStrong) lastAbout = position;
      else lastExample = position;
      for (const running of kinds.values()) {
        settle(running, position);
        if (running.pending !== null && (isStrong || running.pending.isQuoted)) running.pending = null;
      }
    },
    finish() {
      const verdicts: KindVerdict[] = [];
      for (const [kind, running] of kinds) {
        settle(running, Number.MAX_SAFE_INTEGER);
        const { severity, count, start, end, together } = running;
        verdicts.push({ kind, severity, count, start, end, together });
      }
      return verdicts;
    },
  };
}

const RANK: Readonly<Record<KindVerdict["severity"], number>> = { silent: 0, note: 1, low: 2, high: 3 };

const OPENING = "\"'`“‘«„「『";

/** True where a quotation mark stands just before `start`, other than the one that opens a JSON string. */
function isQuotedAt(text: string, start: number): boolean {
  const sign = text.charAt(start - 1);
  if (sign === "" || !OPENING.includes(sign)) return false;
  if (sign !== '"') return true;
  const before = text.slice(Math.max(0, start - 4), start - 1).trimEnd();
  return before !== "" && !":,[{\\".includes(before.charAt(before.length - 1));
}

const CLOSING = "\"'`”’»“」』";

/** True where the phrase stands alone in quotation marks: it is spoken of, not said. */
function isMentioned(text: string, { start, end }: Hit): boolean {
  if (!isQuotedAt(text, start)) return false;
  for (let at = end; at < Math.min(end + 3, text.length); at += 1) {
    if (CLOSING.includes(text.charAt(at))) return true;
  }
  return false;
}

const HIDDEN_INSIDE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\u{e0000}-\u{e0fff}]/u;
const MIXED_INSIDE = /[a-z][\u0430-\u045f\u0391-\u03c9]|[\u0430-\u045f\u0391-\u03c9][a-z]/i;

/** True where the phrase holds hidden characters or words in two scripts: nobody writes so by chance. */
function isDisguised(text: string, hit: Hit): boolean {
  const phrase = text.slice(hit.start, Math.min(hit.end, hit.start + 400));
  return BEYOND_ASCII.test(phrase) && (HIDDEN_INSIDE.test(phrase) || MIXED_INSIDE.test(phrase));
}

const BEYOND_ASCII = /[^\x00-\x7f]/;
