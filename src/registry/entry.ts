/** What the registry holds about the things that a server offers: the definition as it came, and what was judged about it. */
import type { JsonObject } from "../base/json.ts";
import type { ConnectionKey, Finding } from "../vocabulary.ts";

/** What a tool's annotations claim. Never trusted: they may only raise a grade (TOOL-05 to TOOL-07). */
export interface ToolHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
  /** A claim of the wrong type or one that contradicts another: counts as dangerous. */
  readonly isSuspicious: boolean;
  /** Whether the server said anything at all. */
  readonly isGiven: boolean;
}

export interface ToolEntry {
  readonly kind: "tool";
  readonly server: string;
  /** The name on the wire, as the server wrote it. */
  readonly name: string;
  /** Cleaned; a quoted claim, never an address. Display precedence: title, annotations.title, name (TOOL-21). */
  readonly title: string | null;
  /** Cleaned. */
  readonly description: string | null;
  readonly hints: ToolHints;
  /** The definition as it came, every member kept: for the wire, the pin and the gateway (TOOL-32). */
  readonly raw: JsonObject;
  /** As it came; `{}` becomes `{ "type": "object" }` only for models. */
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** What `wire/headers` made of `x-mcp-header`; opaque here. `null` where there is none, or no HTTP. */
  readonly headerPlan: unknown;
  /** SHA-256 over everything that a model or a person reads. */
  readonly pin: string;
  readonly findings: readonly Finding[];
}

export type QuarantineCode =
  | "not_an_object"
  | "bad_name"
  | "bad_definition"
  | "bad_schema"
  | "bad_header_annotation"
  | "duplicate_name"
  | "name_collision"
  | "limit"
  | "changed";

export interface Quarantine {
  readonly code: QuarantineCode;
  /** One sentence for a person, safe to print. */
  readonly reason: string;
}

export interface QuarantinedItem {
  readonly kind: "tool" | "resource" | "template" | "prompt";
  readonly server: string;
  /** `null` where it has no usable name. */
  readonly name: string | null;
  /** Position in the list. */
  readonly index: number;
  readonly quarantine: Quarantine;
  /** The definition where it is an object: shown in `review`, never to a model. */
  readonly raw: JsonObject | null;
}

export interface ResourceEntry {
  readonly kind: "resource" | "template";
  readonly server: string;
  /** The URI, or the template of one, as the server wrote it. */
  readonly uri: string;
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
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly arguments: readonly { readonly name: string; readonly description: string | null; readonly isRequired: boolean }[];
  readonly raw: JsonObject;
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
  /** The server's own instructions: cleaned, and their pin. */
  readonly instructions: { readonly text: string; readonly pin: string; readonly findings: readonly Finding[] } | null;
  /** Suspicions about the list as a whole. */
  readonly findings: readonly Finding[];
  /** Lists that ended before their last page. */
  readonly partial: readonly ("tools" | "resources" | "templates" | "prompts")[];
  /** Milliseconds since the epoch: when the list was received. */
  readonly receivedAt: number;
}
