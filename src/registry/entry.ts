/** What the registry holds about the things that a server offers: the definition as it came, and what was judged about it. */
import type { JsonObject } from "../base/json.ts";
import type { ConnectionKey, Finding } from "../vocabulary.ts";

export interface ToolEntry {
  readonly kind: "tool";
  readonly server: string;
  /** The name on the wire, as the server wrote it. */
  readonly name: string;
  /**
   * For people: hidden characters visible. A quoted claim, never an address. By precedence: title, annotations.title (TOOL-21);
   * `null` where there is neither.
   */
  readonly title: string | null;
  /** For people: hidden characters visible. */
  readonly description: string | null;
  /** For models: hidden characters gone, at most 8,000 characters. */
  readonly modelDescription: string | null;
  /** The definition as it came, every member kept: for the wire, the pin and the gateway (TOOL-32). */
  readonly raw: JsonObject;
  /** As it came. */
  readonly inputSchema: JsonObject;
  /** As it came; `null` where there is none, or one that cannot be used (then a finding says so). */
  readonly outputSchema: JsonObject | null;
  /** What `wire/headers` made of `x-mcp-header`; opaque here. `null` where there is none, or no HTTP. */
  readonly headerPlan: unknown;
  /** SHA-256 over everything that a model or a person reads. */
  readonly pin: string;
  readonly findings: readonly Finding[];
}

const QUARANTINE_CODES = [
  "not_an_object",
  "bad_name",
  "bad_definition",
  "bad_schema",
  "bad_header_annotation",
  "duplicate_name",
  "name_collision",
  "limit",
  "suspicious",
  "changed",
] as const;

export type QuarantineCode = (typeof QUARANTINE_CODES)[number];

export function isQuarantineCode(value: unknown): value is QuarantineCode {
  return QUARANTINE_CODES.some((code) => code === value);
}

export interface Quarantine {
  readonly code: QuarantineCode;
  /** One sentence for a person, safe to print. */
  readonly reason: string;
}

export type ItemKind = "tool" | "resource" | "template" | "prompt";

export interface QuarantinedItem {
  readonly kind: ItemKind;
  readonly server: string;
  /** As the server wrote it; `null` where it has no usable name. */
  readonly name: string | null;
  /** Position in the list. */
  readonly index: number;
  readonly quarantine: Quarantine;
  /** The definition where it is an object of bearable size: for `review` and for operators' overrides, never for a model. */
  readonly raw: JsonObject | null;
}

export interface ResourceEntry {
  readonly kind: "resource" | "template";
  readonly server: string;
  /** The URI, or the template of one, as the server wrote it. */
  readonly uri: string;
  /** For people. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly mimeType: string | null;
  readonly raw: JsonObject;
  readonly findings: readonly Finding[];
}

export interface PromptEntry {
  readonly kind: "prompt";
  readonly server: string;
  /** As the server wrote it. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly arguments: readonly PromptArgumentEntry[];
  readonly raw: JsonObject;
  readonly findings: readonly Finding[];
}

export interface PromptArgumentEntry {
  readonly name: string;
  readonly description: string | null;
  readonly isRequired: boolean;
}

export type ListName = "tools" | "resources" | "templates" | "prompts";

/** A server's own instructions. */
export interface InstructionsEntry {
  /** As it came. */
  readonly raw: string;
  /** For people. */
  readonly text: string;
  /** For models. */
  readonly modelText: string;
  readonly pin: string;
  readonly findings: readonly Finding[];
}

/** What one connection offers at one time. Replaced as a whole, never changed. */
export interface Catalog {
  readonly key: ConnectionKey;
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly ResourceEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly quarantined: readonly QuarantinedItem[];
  readonly instructions: InstructionsEntry | null;
  /** Suspicions about the lists as a whole. */
  readonly findings: readonly Finding[];
  /** Lists that ended before their last page. */
  readonly partial: readonly ListName[];
  /** Milliseconds since the epoch: when the lists were received. */
  readonly receivedAt: number;
}
