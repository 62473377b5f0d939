/** The form of `Oddity.sample`, in one place for all transports. */
import { oneLine } from "../text/clean.ts";

const MAX_SAMPLE_LENGTH = 200;

/** The beginning of `text` in one line of at most 200 characters, hidden characters visible. */
export function visibleSample(text: string): string {
  return oneLine(text, MAX_SAMPLE_LENGTH);
}
