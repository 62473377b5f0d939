/** What a call was decided as, read back from its records: who let it pass or not, when, by which channel, on what basis. */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { StoredRecord } from "../store/store.ts";
import { GRADES, type Grade } from "../vocabulary.ts";

/** One answer of a person. */
export interface RecordedAnswer {
  readonly by: string;
  readonly channel: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RecordedDecision {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly decision: "allow" | "ask" | "deny";
  readonly grade: Grade | null;
  readonly gradeFrom: string | null;
  readonly code: string | null;
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  /** What was found suspicious in the arguments or the flow. */
  readonly findings: readonly { readonly rule: string; readonly message: string; readonly where: string }[];
  /** The approval or grant that it rests on. */
  readonly basis: { readonly kind: string; readonly id: string } | null;
  /** What people said, in order; L3 takes two. Empty where nobody was asked. */
  readonly answers: readonly RecordedAnswer[];
}

/** The decisions of one call, in order; bodies are a stranger's, so what is damaged is left out. */
export function readDecisions(records: readonly StoredRecord[]): readonly RecordedDecision[] {
  return records.flatMap(({ kind, at, body }) => {
    const decided = kind === "decided" ? body : ownProperty(body, "decided");
    const read = isJsonObject(decided) ? readDecision(decided, at) : undefined;
    return read === undefined ? [] : [read];
  });
}

function readDecision(body: JsonObject, at: number): RecordedDecision | undefined {
  const decision = ownProperty(body, "decision");
  if (decision !== "allow" && decision !== "ask" && decision !== "deny") return undefined;
  const basis = ownProperty(body, "basis");
  return {
    at,
    decision,
    grade: GRADES.find((grade) => grade === ownProperty(body, "grade")) ?? null,
    gradeFrom: text(body, "gradeFrom"),
    code: text(body, "code"),
    reasons: objects(body, "reasons").map((reason) => ({
      rule: text(reason, "rule") ?? "",
      message: text(reason, "message") ?? "",
    })),
    findings: objects(body, "findings").map((finding) => ({
      rule: text(finding, "rule") ?? "",
      message: text(finding, "message") ?? "",
      where: text(finding, "where") ?? "",
    })),
    basis: isJsonObject(basis) ? { kind: text(basis, "kind") ?? "", id: text(basis, "id") ?? "" } : null,
    answers: readAnswers(body, at),
  };
}

function readAnswers(body: JsonObject, at: number): readonly RecordedAnswer[] {
  const answers = objects(body, "answers").map((answer) => ({
    by: text(answer, "by") ?? "",
    channel: text(answer, "channel") ?? "",
    at: typeof answer["at"] === "number" ? answer["at"] : at,
  }));
  const by = text(body, "approvedBy");
  return answers.length > 0 || by === null ? answers : [{ by, channel: text(body, "channel") ?? "", at }];
}

function objects(body: JsonObject, name: string): readonly JsonObject[] {
  const list = ownProperty(body, name);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function text(body: JsonObject, name: string): string | null {
  const value = ownProperty(body, name);
  return typeof value === "string" ? value : null;
}
