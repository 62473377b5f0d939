/**
 * What an operator is shown of new and changed definitions, and what accepting them does. Accepted is only what was shown: a
 * definition that changed again in between stays held.
 */
import { diffDefinitions, diffInstructions, printChanges } from "../registry/diff.ts";
import type { InstructionsEntry, ToolEntry } from "../registry/entry.ts";
import type { PinBook } from "../registry/pin-book.ts";
import type { ListedTool } from "../registry/registry.ts";
import { SHARED_CREDENTIAL, type Finding, type Principal } from "../vocabulary.ts";
import type { AcceptTarget, ReviewItem } from "./api.ts";
import { requireServer, type Core } from "./core.ts";

/** New and changed definitions of all connections, each definition once. */
export async function reviewDefinitions(
  core: Core,
  pins: PinBook,
  server?: string,
): Promise<readonly ReviewItem[]> {
  const tools = openTools(core, server).map(async (tool) => reviewTool(pins, tool));
  const texts = openInstructions(core, pins, server).map(async (text) => reviewInstructions(pins, text));
  return Promise.all([...tools, ...texts]);
}

/** @returns the exposed names of the tools accepted. */
export async function acceptDefinitions(
  core: Core,
  pins: PinBook,
  { server, tool, definitions }: AcceptTarget,
  by: Principal,
): Promise<readonly string[]> {
  requireServer(core.config(), server);
  const wasSeen = (pin: string): boolean => definitions?.includes(pin) ?? true;
  const open = openTools(core, server).filter(
    ({ entry }) => (tool === undefined || entry.name === tool) && wasSeen(entry.pin),
  );
  const texts = openInstructions(core, pins, server).filter(
    ({ text }) => tool === undefined && wasSeen(text.pin),
  );
  const now = core.clock.now();
  if (open.length > 0)
    await pins.accept(
      server,
      open.map(({ entry }) => entry),
      now,
    );
  for (const { text } of texts) await pins.acceptInstructions(server, text, now);
  await core.audit.note("pins.accepted", {
    server,
    by,
    tools: open.map(({ entry }) => ({ name: entry.name, pin: entry.pin })),
    instructions: texts.map(({ text }) => text.pin),
  });
  return open.map(({ exposedName }) => exposedName);
}

/** Whose lists there are: the operator reviews what any of them was shown. */
function viewers(core: Core): readonly Principal[] {
  const credentials = core.registry.catalogs().map(({ key }) => key.credential);
  return [...new Set(["local", ...credentials.filter((credential) => credential !== SHARED_CREDENTIAL)])];
}

function openTools(core: Core, server: string | undefined): readonly ListedTool[] {
  const open = new Map<string, ListedTool>();
  for (const principal of viewers(core)) {
    const filter = { principal, includeHeld: true, ...(server === undefined ? {} : { server }) };
    for (const tool of core.registry.list(filter)) {
      if (tool.pinState === "accepted") continue;
      open.set(JSON.stringify([tool.entry.server, tool.entry.name, tool.entry.pin]), tool);
    }
  }
  return [...open.values()];
}

interface OpenInstructions {
  readonly server: string;
  readonly text: InstructionsEntry;
  readonly pin: "new" | "changed";
}

function openInstructions(core: Core, pins: PinBook, only: string | undefined): readonly OpenInstructions[] {
  const open = new Map<string, OpenInstructions>();
  for (const { key, instructions: text } of core.registry.catalogs()) {
    if (text === null || (only !== undefined && key.server !== only)) continue;
    const { state } = pins.instructionsStatus(key.server, text.pin);
    if (state !== "accepted") open.set(`${key.server} ${text.pin}`, { server: key.server, text, pin: state });
  }
  return [...open.values()];
}

async function reviewTool(pins: PinBook, listed: ListedTool): Promise<ReviewItem> {
  const { entry, exposedName, pinState, quarantine } = listed;
  const before = pinState === "changed" ? await pins.definition(entry.server, entry.name) : undefined;
  return {
    kind: "tool",
    server: entry.server,
    tool: entry.name,
    name: exposedName,
    pin: pinState === "changed" ? "changed" : "new",
    definition: entry.pin,
    held: quarantine === null ? null : quarantine.reason,
    findings: suspicionsOf(entry),
    diff: printChanges(diffDefinitions(before, entry.raw)),
  };
}

async function reviewInstructions(pins: PinBook, open: OpenInstructions): Promise<ReviewItem> {
  const { server, text, pin } = open;
  const before = pin === "changed" ? await pins.instructions(server) : undefined;
  return {
    kind: "instructions",
    server,
    tool: null,
    name: null,
    pin,
    definition: text.pin,
    held: null,
    findings: text.findings,
    diff: printChanges(diffInstructions(before, text.raw)),
  };
}

/** What is worth a look; notes about the form of a schema are not. */
function suspicionsOf(entry: ToolEntry): readonly Finding[] {
  return entry.findings.filter(({ severity }) => severity !== "note");
}
