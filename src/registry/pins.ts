/**
 * Pins: the hash of everything that a model or a person reads about a tool, and what an operator said about it. The first sight
 * is recorded and usable as *new*; another definition is *changed* and held until somebody accepts it; several may be accepted at
 * a time (two versions during a rollout). Members in another order are the same definition.
 */
import { createHash } from "node:crypto";
import { canonicalJson, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";

/** Whatever else a definition holds (`_meta`, `execution`) is not read by anybody and may change. */
const READ_BY_PEOPLE = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "icons",
] as const;

/** Hex SHA-256 of the canonical form of what is read. Of a definition that was bounded before (depth at most 512). */
export function pinOf(definition: JsonObject): string {
  const read: Record<string, JsonValue> = {};
  for (const name of READ_BY_PEOPLE) {
    const value = ownProperty(definition, name);
    if (value !== undefined) read[name] = value as JsonValue;
  }
  return digest(canonicalJson(read));
}

/** The pin of a server's instructions. */
export function pinOfText(text: string): string {
  return digest(text);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** `new`: as first seen, not looked at yet. `accepted`: by an operator. `changed`: neither; held. */
export type PinState = "new" | "accepted" | "changed";

/** What is known about one tool of one server, whoever's connection it was seen on. */
export interface PinRecord {
  /** The definition that was seen first. */
  readonly first: string;
  /** Milliseconds since the epoch. */
  readonly firstSeenAt: number;
  /** Accepted by an operator, oldest first. */
  readonly accepted: readonly string[];
  /** It was there when the server was first listed, or was accepted since: grades by pattern count for it. */
  readonly isBaseline: boolean;
}

const MAX_ACCEPTED_PINS = 8;

export interface PinStatus {
  readonly state: PinState;
  readonly isBaseline: boolean;
}

/** @param record `undefined` for a tool that was never seen. */
export function evaluatePin(record: PinRecord | undefined, pin: string): PinStatus {
  if (record === undefined) return { state: "new", isBaseline: false };
  if (record.accepted.includes(pin)) return { state: "accepted", isBaseline: record.isBaseline };
  // Once an operator has accepted something, the first sight alone counts for nothing any more.
  const isFirst = record.accepted.length === 0 && record.first === pin;
  return { state: isFirst ? "new" : "changed", isBaseline: record.isBaseline };
}

/** The record after a first sight. */
export function recordFirstSight(pin: string, at: number, isBaseline: boolean): PinRecord {
  return { first: pin, firstSeenAt: at, accepted: [], isBaseline };
}

/** The record after an operator accepted `pin`; the oldest acceptances go when there are more than 8. */
export function acceptPin(record: PinRecord | undefined, pin: string, at: number): PinRecord {
  const before = record ?? recordFirstSight(pin, at, true);
  const accepted = [...before.accepted.filter((other) => other !== pin), pin].slice(-MAX_ACCEPTED_PINS);
  return { ...before, accepted, isBaseline: true };
}

/** The record after an operator took an acceptance back: that definition is held again. */
export function rejectPin(record: PinRecord, pin: string): PinRecord {
  return { ...record, accepted: record.accepted.filter((other) => other !== pin) };
}
