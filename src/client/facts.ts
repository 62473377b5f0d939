/** What a handshake settled. Everything in here but `era` and `revision` is the server's own claim. */
import type { Era, Revision } from "../protocol/revisions.ts";
import type { Implementation, ServerCapabilities } from "../protocol/types.ts";

export interface ServerFacts {
  readonly era: Era;
  readonly revision: Revision;
  readonly capabilities: ServerCapabilities;
  /** False for a modern server without discovery: `capabilities` is empty because nobody told. */
  readonly areCapabilitiesKnown: boolean;
  readonly serverInfo?: Implementation;
  readonly instructions?: string;
  /** False where the era was settled by a time-out: such a verdict must not be remembered. */
  readonly verdictIsCertain: boolean;
}
