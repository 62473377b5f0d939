/** What the tests of results share: channels with repeatable tags, and an intake with the defaults of a call. */
import { createSeededRandom } from "../../../src/base/random.ts";
import { createChannels, type Channels } from "../../../src/results/channels.ts";
import { intakeToolResult, type Intake, type IntakeOptions } from "../../../src/results/intake.ts";

export const channels: Channels = createChannels({ random: createSeededRandom(7) });

export const defaults: IntakeOptions = {
  source: { server: "files", name: "read" },
  channels,
  scan: "block",
  restId: "call-1",
};

export function take(raw: unknown, options: Partial<IntakeOptions> = {}): Intake {
  return intakeToolResult(raw, { ...defaults, ...options });
}

export const text = (said: string): { type: string; text: string } => ({ type: "text", text: said });

/** One pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The text between the marks of a framed text. */
export function framed(model: string): string {
  return /\n<untrusted ([0-9a-f]{16})>\n([\s\S]*)\n<\/untrusted \1>/.exec(model)?.[2] ?? "";
}
