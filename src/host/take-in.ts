/** Step 7 of a call: caps, kinds, output schema, scan, two channels. */
import { inSlices, type Sliced } from "../base/slices.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { ToolEntry } from "../registry/entry.ts";
import { toolResultIntake, type Intake, type IntakeOptions } from "../results/intake.ts";
import type { OutputValidator } from "../results/output-schema.ts";
import type { Core } from "./core.ts";
import type { ResolvedTool } from "./resolve-tool.ts";

/** There at once where the result is no large one. @param restId under which what does not fit will be kept; `null`: it will not. */
export function takeIn(
  core: Core,
  plan: ResolvedTool,
  raw: unknown,
  restId: string | null,
): Intake | Promise<Intake> {
  return inSlices(intakeSlices(core, plan, raw, restId));
}

function* intakeSlices(
  core: Core,
  { server, tool }: ResolvedTool,
  raw: unknown,
  restId: string | null,
): Sliced<Intake> {
  const output = core.schemas.output(tool.entry);
  if (output?.ok === true && output.prepare()) yield;
  return yield* toolResultIntake(raw, { ...intakeOf(core, server, tool.entry), restId });
}

type ToolIntake = Omit<IntakeOptions, "restId">;

/** What does not change from call to call, by the definition of the tool. */
const intakes = new WeakMap<
  ToolEntry,
  { readonly core: Core; readonly server: ServerConfig; readonly intake: ToolIntake }
>();

function intakeOf(core: Core, server: ServerConfig, entry: ToolEntry): ToolIntake {
  const known = intakes.get(entry);
  if (known?.core === core && known.server === server) return known.intake;
  const intake: ToolIntake = {
    source: { server: server.name, name: entry.name },
    channels: core.channels,
    scan: server.scan,
    maxBytes: server.limits.resultBytes,
    modelTokens: server.limits.modelTokens,
    validateOutput: outputValidator(core, entry),
    redactor: core.redactor,
  };
  intakes.set(entry, { core, server, intake });
  return intake;
}

function outputValidator({ schemas }: Core, entry: ToolEntry): OutputValidator | null {
  if (schemas.output(entry)?.ok !== true) return null;
  return (value) => {
    // Asked for again: a schema that was not needed for long is forgotten.
    const compiled = schemas.output(entry);
    if (compiled?.ok !== true) return [];
    const verdict = compiled.validate(value);
    return verdict.ok ? [] : verdict.issues.map((issue) => `${issue.path}: ${issue.message}`);
  };
}
