/**
 * Where the values in a call's arguments came from: per conversation, what tools put out is remembered (as keyed hashes, not
 * as text), and what turns up again in arguments without the user having said it is a finding that names its source.
 *
 * It sees copies, not what was rewritten or encoded on the way; the flow of labels (`labels.ts`) is there for the rest.
 *
 * Invariants: linear in what is read and checked; bounded, and what had to be forgotten is said; no value leaves it as text.
 */
import { createHmac } from "node:crypto";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { Sliced } from "../base/slices.ts";
import type { Finding } from "../vocabulary.ts";
import { EMPTY_FLOW, nextFlow, type Flow, type FlowLabels } from "./labels.ts";
import { createScanKey, scanValues, VALUE_KINDS } from "./value-scan.ts";
import { createValueTable } from "./value-table.ts";

export interface ProvenanceFinding extends Finding {
  /** What put the value out, for example `github list_issues`. */
  readonly from: string;
}

/** What is kept of a conversation in the store: hashes only, keyed with what lies elsewhere. */
interface ProvenanceSnapshot {
  readonly sources: readonly string[];
  /** Base64 of 12 bytes per value: 8 of its keyed hash, 4 of the index of its source. */
  readonly values: string;
  /** Base64 of 8 bytes per value that the user, or the agent by itself, brought in. */
  readonly own: string;
  readonly flow: Flow;
  readonly hasForgotten: boolean;
}

/** The provenance of one conversation. */
export interface Provenance {
  /** What the user said: values in it are never a finding. */
  userSaid(text: string): void;
  /** What the agent sent by itself: values that came from no tool count as its own, also when a tool repeats them. */
  agentSent(args: JsonObject): void;
  /**
   * What a tool put out, before it reaches the model.
   *
   * @param from for example `github list_issues`.
   * @param output any JSON: content blocks, structured content, an error's text.
   * @param labels of the tool and its server.
   */
  observe(from: string, output: unknown, labels: FlowLabels): void;
  /**
   * Reads what waits, where it is too much to be read at once when it is needed; `undefined`: it is not. Nothing is missed by a
   * check in between, which reads the rest itself.
   */
  readAhead(): Sliced<void> | undefined;
  /**
   * Values in `args` that came out of a tool, each with its place; at most 20. What was observed is only read now, so calls
   * that only read, for which nothing is checked, pay nothing.
   */
  check(args: JsonObject): readonly ProvenanceFinding[];
  readonly flow: Flow;
  /** How much it remembers. */
  readonly size: number;
  snapshot(): ProvenanceSnapshot;
}

const MAX_FINDINGS = 20;
/** Characters read per output; the rest counts as forgotten. */
const MAX_OUTPUT = 4 * 1024 * 1024;
/** Characters that wait to be read: more would hold the event loop when a call is checked. */
const MAX_WAITING = 1024 * 1024;
/** The same where nobody reads ahead: more would fill the memory. */
const MAX_HELD = 16 * 1024 * 1024;
/** Characters of a text that are read at once; a longer one is cut where a line or a word ends, because no value goes on there. */
const MAX_PIECE = 512 * 1024;
/** What a text costs besides its characters: many short ones must not fill the memory either. */
const TEXT_COST = 64;
const MAX_SOURCES = 10_000;
const MAX_DEPTH = 64;
/** Values kept in the store per conversation. */
const MAX_STORED = 8_192;
const MAX_NAME = 160;
const OWN = 0;
const SENT = -1;

export interface ProvenanceOptions {
  /** 32 secret bytes; the same for the same store. */
  readonly key: Buffer;
  readonly conversation: string;
  /** Of the same key and conversation. */
  readonly snapshot?: ProvenanceSnapshot;
}

export function createProvenance({ key, conversation, snapshot }: ProvenanceOptions): Provenance {
  const scanKey = createScanKey(createHmac("sha256", key).update(`provenance ${conversation}`).digest());
  const seen = createValueTable();
  const own = createValueTable();
  const stored = readSnapshot(snapshot);
  const sources: string[] = [...(snapshot?.sources ?? [])];
  const sourceIndex = new Map(sources.map((from, index) => [from, index]));
  let flow: Flow = snapshot?.flow ?? EMPTY_FLOW;
  let hasForgotten = snapshot?.hasForgotten ?? false;

  /** The hash as it lies in the store: the fast one does not leave the process. */
  const storedHash = (one: number, two: number): Buffer => {
    const pair = Buffer.alloc(8);
    pair.writeInt32LE(one, 0);
    pair.writeInt32LE(two, 4);
    return createHmac("sha256", key).update(pair).digest().subarray(0, 8);
  };

  /** @returns the index of the source of a value that is not the agent's or the user's own, or -1. */
  const sourceOf = (one: number, two: number): number => {
    const source = seen.find(one, two);
    if (stored === null) return source >= 0 && own.find(one, two) >= 0 ? -1 : source;
    if (own.find(one, two) >= 0) return -1;
    const hash = storedHash(one, two).toString("latin1");
    if (stored.own.has(hash)) return -1;
    return stored.values.get(hash) ?? source;
  };

  const indexOf = (from: string): number => {
    const known = sourceIndex.get(from);
    if (known !== undefined) return known;
    if (sources.length >= MAX_SOURCES) return sources.length - 1;
    sourceIndex.set(from, sources.length);
    sources.push(from.slice(0, MAX_NAME).replaceAll(/[^\x20-\x7E]/g, "?"));
    return sources.length - 1;
  };

  /** Texts in the order in which they came: those of the agent have the source `SENT`. Most calls only read and need none of it. */
  let waiting: Waiting[] = [];
  let waitingCharacters = 0;

  const wait = (text: string, source: number): void => {
    waitingCharacters += text.length + TEXT_COST;
    // Most texts are short.
    if (text.length <= MAX_PIECE) waiting.push({ text, source, isJson: source !== SENT && isJsonText(text) });
    else {
      const isJson = source !== SENT && isJsonText(text);
      for (const piece of piecesOf(text)) waiting.push({ text: piece, source, isJson });
    }
  };

  const takeSent = (text: string): void => wait(text, SENT);

  /** Of the output that is being taken: how much more of it is read, and whose it is. */
  const taking = { left: 0, source: 0 };
  const takeOutput = (text: string): void => {
    const part = text.length > taking.left ? text.slice(0, taking.left) : text;
    hasForgotten ||= part.length < text.length;
    taking.left -= part.length;
    wait(part, taking.source);
  };

  const read = (texts: readonly Waiting[]): void => {
    for (const { text, source, isJson } of texts) {
      waitingCharacters -= text.length + TEXT_COST;
      if (source === SENT) {
        scanValues(text, scanKey, false, (one, two) => {
          if (sourceOf(one, two) < 0) own.add(one, two, OWN);
        });
      } else scanValues(text, scanKey, isJson, (one, two) => seen.add(one, two, source));
    }
    hasForgotten ||= seen.hasForgotten;
  };

  const readWaiting = (): void => {
    const texts = waiting;
    waiting = [];
    read(texts);
  };

  function* readInSlices(): Sliced<void> {
    while (waiting.length > 0) {
      let characters = 0;
      let count = 0;
      for (const { text } of waiting) {
        characters += text.length + TEXT_COST;
        count += 1;
        if (characters >= MAX_PIECE) break;
      }
      yield;
      read(waiting.splice(0, count));
    }
  }

  return {
    userSaid(text) {
      scanValues(text, scanKey, false, (one, two) => own.add(one, two, OWN));
    },
    agentSent(args) {
      visitTexts(args, 0, takeSent);
      if (waitingCharacters > MAX_WAITING) readWaiting();
    },
    observe(from, output, labels) {
      flow = nextFlow(flow, labels, from);
      taking.source = indexOf(from);
      taking.left = MAX_OUTPUT;
      const isWhole = visitTexts(output, 0, takeOutput);
      hasForgotten ||= !isWhole;
      if (waitingCharacters > MAX_HELD) readWaiting();
    },
    readAhead: () => (waitingCharacters > MAX_WAITING ? readInSlices() : undefined),
    check(args) {
      const findings: ProvenanceFinding[] = [];
      readWaiting();
      if (seen.size > 0 || stored !== null) {
        walk(args, "", 0, (text, where) => {
          // Of what overlaps, the first and longest is told: a URL, not also its host.
          let told = -1;
          scanValues(text, scanKey, false, (one, two, kind, _start, end) => {
            if (end <= told || findings.length >= MAX_FINDINGS) return;
            const source = sourceOf(one, two);
            if (source < 0) return;
            told = end;
            const from = sources[source] ?? "a tool";
            if (findings.some((finding) => finding.where === where && finding.from === from)) return;
            findings.push(findingOf(where, VALUE_KINDS[kind] ?? "value", from));
          });
        });
      }
      if (hasForgotten && findings.length === 0) findings.push(FORGOTTEN);
      return findings;
    },
    get flow() {
      return flow;
    },
    get size() {
      readWaiting();
      return seen.size + (stored?.values.size ?? 0);
    },
    snapshot() {
      readWaiting();
      const values: Buffer[] = [];
      let isCut = false;
      const keep = (hash: Buffer, source: number): boolean => {
        if (values.length >= MAX_STORED) {
          isCut = true;
          return false;
        }
        const index = Buffer.alloc(4);
        index.writeUInt32LE(source);
        values.push(hash, index);
        return true;
      };
      seen.forEach((one, two, source) => keep(storedHash(one, two), source));
      for (const [hash, source] of stored?.values ?? [])
        if (!keep(Buffer.from(hash, "latin1"), source)) break;
      const owned: Buffer[] = [];
      own.forEach((one, two) => owned.push(storedHash(one, two)) < MAX_STORED);
      for (const hash of stored?.own ?? [])
        if (owned.length < MAX_STORED) owned.push(Buffer.from(hash, "latin1"));
      return {
        sources: [...sources],
        values: Buffer.concat(values).toString("base64"),
        own: Buffer.concat(owned).toString("base64"),
        flow,
        hasForgotten: hasForgotten || isCut,
      };
    },
  };
}

interface Waiting {
  readonly text: string;
  readonly source: number;
  /** Its escapes are JSON's. */
  readonly isJson: boolean;
}

/** How far back from the end of a piece a good place to cut is looked for. */
const CUT_WINDOW = 4_096;

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let at = 0;
  while (text.length - at > MAX_PIECE) {
    const window = text.slice(at + MAX_PIECE - CUT_WINDOW, at + MAX_PIECE);
    const border = Math.max(window.lastIndexOf("\n"), 0) || Math.max(window.lastIndexOf(" "), 0);
    const end = at + MAX_PIECE - (border === 0 ? 0 : CUT_WINDOW - border);
    pieces.push(text.slice(at, end));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces;
}

const FORGOTTEN: ProvenanceFinding = Object.freeze({
  rule: "provenance.forgotten",
  severity: "low",
  where: "",
  message:
    "more was read in this conversation than can be remembered, so values may come from what tools put out",
  from: "earlier tools",
});

function findingOf(where: string, kind: string, from: string): ProvenanceFinding {
  const article = /^[aeiou]/.test(kind) ? "an" : "a";
  return {
    rule: "provenance.value",
    severity: "low",
    where,
    message: `${article} ${kind} in it came out of \`${from}\`, not from the user`,
    from,
  };
}

/** Text of a JSON document has escapes in it; other text has back slashes of its own. */
function isJsonText(text: string): boolean {
  for (let at = 0; at < text.length && at < 64; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 32) continue;
    return code === 123 || code === 91;
  }
  return false;
}

/** The same texts as `walk` visits, without their pointers: every output of every tool goes through it. */
function visitTexts(value: unknown, depth: number, visit: (text: string) => void): boolean {
  if (typeof value === "string") visit(value);
  else if (typeof value === "number") {
    if (isTellingNumber(value)) visit(String(value));
  } else if (typeof value === "object" && value !== null) {
    if (depth > MAX_DEPTH) return false;
    let isWhole = true;
    if (Array.isArray(value)) {
      for (const item of value) isWhole = visitTexts(item, depth + 1, visit) && isWhole;
    } else {
      for (const name of Object.keys(value)) {
        if (depth > 0 && name.length >= MIN_NAME) visit(name);
        isWhole = visitTexts((value as JsonObject)[name], depth + 1, visit) && isWhole;
      }
    }
    return isWhole;
  }
  return true;
}

/** Names of members that are shorter hold no value. */
const MIN_NAME = 6;

function isTellingNumber(value: number): boolean {
  return value >= 100_000 || value <= -100_000 || !Number.isInteger(value);
}

/**
 * Every text and number in a JSON value, with its pointer; names of nested properties count as text as well.
 *
 * @returns false where something lies too deep to be looked at.
 */
function walk(
  value: unknown,
  where: string,
  depth: number,
  visit: (text: string, where: string) => void,
): boolean {
  if (typeof value === "string") visit(value, where);
  else if (typeof value === "number") {
    if (isTellingNumber(value)) visit(String(value), where);
  } else if (typeof value === "object" && value !== null) {
    if (depth > MAX_DEPTH) return false;
    let isWhole = true;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1)
        isWhole = walk(value[index], `${where}/${index}`, depth + 1, visit) && isWhole;
    } else if (isJsonObject(value)) {
      for (const name of Object.keys(value)) {
        const inner = `${where}/${name.includes("/") || name.includes("~") ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name}`;
        if (depth > 0 && name.length >= MIN_NAME) visit(name, inner);
        isWhole = walk(value[name], inner, depth + 1, visit) && isWhole;
      }
    }
    return isWhole;
  }
  return true;
}

interface StoredValues {
  readonly values: ReadonlyMap<string, number>;
  readonly own: ReadonlySet<string>;
}

function readSnapshot(snapshot: ProvenanceSnapshot | undefined): StoredValues | null {
  if (snapshot === undefined) return null;
  const bytes = Buffer.from(snapshot.values, "base64");
  const values = new Map<string, number>();
  for (let at = 0; at + 12 <= bytes.length; at += 12)
    values.set(bytes.toString("latin1", at, at + 8), bytes.readUInt32LE(at + 8));
  const ownBytes = Buffer.from(snapshot.own, "base64");
  const own = new Set<string>();
  for (let at = 0; at + 8 <= ownBytes.length; at += 8) own.add(ownBytes.toString("latin1", at, at + 8));
  return { values, own };
}
