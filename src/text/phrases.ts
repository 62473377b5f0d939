/**
 * Matches `PHRASE_RULES` on a stream of word classes, in one pass.
 *
 * For each rule and step only the latest position is kept: the latest beginning is always the one that a bounded gap favours,
 * so one slot per step is exact, and the work per word is bounded by the number of rules that name its class.
 */
import { PHRASE_RULES, type Kind, type PhraseRule, type WordClass } from "./phrase-rules.ts";

/** A rule that was found. Positions count half words (`UNITS_PER_WORD`), offsets code units of the text that was read. */
export interface Hit {
  readonly rule: PhraseRule;
  readonly kind: Kind;
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

export const UNITS_PER_WORD = 2;

/** How far before a phrase its `unless` looks. */
const UNLESS_UNITS = 2 * UNITS_PER_WORD;

interface Slot {
  readonly rule: number;
  readonly step: number;
  readonly isLast: boolean;
  /** In units; the gap before this step. */
  readonly gap: number;
  /** Index into the state arrays. */
  readonly at: number;
}

const classIds = new Map<WordClass, number>();

/** True for a class with which some rule begins: before the first of them a text needs no matcher. */
export function beginsPhrase(id: number): boolean {
  compiled ??= compile();
  return compiled.slotsByClass[id]?.at(-1)?.step === 0;
}

/** A small number for a class, the same during one process. */
export function classId(name: WordClass): number {
  const known = classIds.get(name);
  if (known !== undefined) return known;
  const id = classIds.size;
  classIds.set(name, id);
  return id;
}

interface Compiled {
  readonly slotsByClass: readonly (readonly Slot[])[];
  readonly stateSize: number;
  readonly unless: readonly (readonly number[])[];
}

let compiled: Compiled | undefined;

function compile(): Compiled {
  const slotsByClass: Slot[][] = [];
  const unless: (readonly number[])[] = [];
  let at = 0;
  PHRASE_RULES.forEach((rule, index) => {
    const parts = rule.steps.split(" ");
    unless.push(rule.unless.map(classId));
    for (let part = 0; part < parts.length; part += 2) {
      const gap = part === 0 ? 0 : (Number(parts[part - 1]) + 1) * UNITS_PER_WORD;
      const slot: Slot = { rule: index, step: part / 2, isLast: part === parts.length - 1, gap, at };
      at += 1;
      for (const name of (parts[part] ?? "").split("|"))
        (slotsByClass[classId(name as WordClass)] ??= []).push(slot);
    }
  });
  // Later steps first, so that one word does not fill two steps of a rule.
  for (const slots of slotsByClass) slots?.sort((one, other) => other.step - one.step);
  return { slotsByClass, stateSize: at, unless };
}

export interface PhraseMatcher {
  /** A word of class `id` ends at `position`. */
  feed(id: number, position: number, start: number, end: number): void;
  /** Gives the matcher's memory back; it must not be fed any more. */
  finish(): void;
}

const FAR_BACK = -1_000_000;

interface State {
  readonly positions: Int32Array;
  /** Where the phrase that reached a step began, as a position and as an offset. */
  readonly beginnings: Int32Array;
  readonly starts: Int32Array;
  readonly lastSeen: Int32Array;
}

/** Arrays are kept between texts, because most texts are shorter than the arrays; taken while one text is read. */
let spare: State | undefined;

/** @param onHit is called for every rule found, in order of its end. */
export function createPhraseMatcher(onHit: (hit: Hit) => void): PhraseMatcher {
  compiled ??= compile();
  const { slotsByClass, stateSize, unless } = compiled;
  const state = spare ?? {
    positions: new Int32Array(stateSize),
    beginnings: new Int32Array(stateSize),
    starts: new Int32Array(stateSize),
    lastSeen: new Int32Array(classIds.size + 1),
  };
  spare = undefined;
  state.positions.fill(FAR_BACK);
  state.lastSeen.fill(FAR_BACK);
  const { positions, beginnings, starts, lastSeen } = state;

  return {
    finish() {
      spare = state;
    },
    feed(id, position, start, end) {
      lastSeen[id] = position;
      const slots = slotsByClass[id];
      if (slots === undefined) return;
      for (const slot of slots) {
        const { at } = slot;
        if (slot.step === 0) {
          beginnings[at] = position;
          starts[at] = start;
        } else {
          const before = positions[at - 1] ?? 0;
          // A CJK text that ends inside another one has the same position; a step must move on.
          if (position <= before || position - before > slot.gap) continue;
          beginnings[at] = beginnings[at - 1] ?? 0;
          starts[at] = starts[at - 1] ?? 0;
        }
        positions[at] = position;
        if (!slot.isLast) continue;
        const rule = PHRASE_RULES[slot.rule];
        const began = beginnings[at] ?? 0;
        if (
          rule === undefined ||
          unless[slot.rule]?.some((other) => (lastSeen[other] ?? 0) >= began - UNLESS_UNITS) === true
        )
          continue;
        onHit({ rule, kind: rule.kind, position, start: starts[at] ?? 0, end });
      }
    },
  };
}
