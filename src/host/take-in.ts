/** Step 7 of a call: caps, kinds, output schema, scan, two channels. */
import type { JsonValue } from "../base/json.ts";
import { intakeToolResult, type Intake } from "../results/intake.ts";
import type { OutputValidator } from "../results/output-schema.ts";
import type { Core } from "./core.ts";
import type { ResolvedTool } from "./resolve-tool.ts";

/** @param restId under which what does not fit will be kept; `null`: it will not. */
export function takeIn(
  core: Core,
  { server, tool }: ResolvedTool,
  raw: unknown,
  restId: string | null,
): Intake {
  return intakeToolResult(raw, {
    source: { server: server.name, name: tool.entry.name },
    channels: core.channels,
    scan: server.scan,
    maxBytes: server.limits.resultBytes,
    modelTokens: server.limits.modelTokens,
    restId,
    validateOutput: outputValidator(core, tool.entry),
    redact: (text) => core.redactor.redactValues(text),
  });
}

function outputValidator(core: Core, entry: ResolvedTool["tool"]["entry"]): OutputValidator | null {
  const compiled = core.schemas.output(entry);
  if (compiled === undefined || !compiled.ok) return null;
  return (value: JsonValue) => {
    const verdict = compiled.validate(value);
    return verdict.ok ? [] : verdict.issues.map((issue) => `${issue.path}: ${issue.message}`);
  };
}
