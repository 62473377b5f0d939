/**
 * Our own tools, under the reserved prefix: finding and describing tools where the catalog is too large to be offered whole,
 * calling what was found, and reading on in an over-long result. They reach no server by themselves: what they call goes
 * through the spine like everything else.
 */
import { linkAbort, throwIfAborted } from "../base/abort.ts";
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "../base/json.ts";
import { holdProcess } from "../base/keep-alive.ts";
import { randomId } from "../base/random.ts";
import type { Seat } from "../base/roster.ts";
import { PortcullisError } from "../errors.ts";
import { checkArguments } from "../registry/arguments.ts";
import { compileSchema } from "../jsonschema/compile.ts";
import { RESERVED_PREFIX } from "../registry/naming.ts";
import { META_TOOL_NAMES, META_TOOLS } from "../registry/offer.ts";
import { toMcpTool, type OfferedTool } from "../registry/providers.ts";
import type { ListedTool } from "../registry/registry.ts";
import { modelMessage } from "../results/outcome-text.ts";
import type { CallOptions } from "./api.ts";
import type { Core, Running } from "./core.ts";
import { asCancelled } from "./exchange.ts";
import { listOffered } from "./offer.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import { searchOf } from "./tool-search.ts";
import type { TurnState } from "./turn.ts";

export const READ_MORE: OfferedTool = {
  exposedName: `${RESERVED_PREFIX}read_more`,
  description: "Reads the next page of a result that was cut. The cut result names its id.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "string", maxLength: 64 }, page: { type: "integer", minimum: 1, default: 2 } },
    required: ["id"],
    additionalProperties: false,
  },
};

/** How a tool of a server is called: the spine, for `call_tool`. */
export type CallThrough = (name: string, args: JsonObject | string, options: CallOptions) => Promise<Outcome>;

/** Runs one of our own tools. */
export async function callOwnTool(
  core: Core,
  turn: TurnState,
  name: string,
  input: JsonObject | string,
  options: CallOptions,
  callThrough: CallThrough,
): Promise<Outcome> {
  const startedMs = core.clock.monotonic();
  const facts = { callId: randomId(core.random), server: null, tool: name, attempts: 0, findings: [] };
  const fail = (error: PortcullisError, hint?: string): Outcome => {
    // A failure never is `completed`.
    const outcome = outcomeOf(error.code) as Exclude<Outcome["outcome"], "completed">;
    const end = { outcome, code: error.code, effect: "none" } as const;
    const hints = hint === undefined ? [] : hint.split("\n");
    return {
      ...facts,
      ...end,
      grade: null,
      message: error.message,
      content: [],
      model: modelMessage({ server: "portcullis", tool: name, ...end, hints }),
      ...(hint === undefined ? {} : { retryHint: hint }),
      durationMs: core.clock.monotonic() - startedMs,
    };
  };
  const tool = [...META_TOOLS, READ_MORE].find((own) => own.exposedName === name);
  if (tool === undefined) return fail(new PortcullisError("unknown_tool", `there is no tool \`${name}\``));
  const compiled = compileSchema(tool.inputSchema);
  if (!compiled.ok) throw new PortcullisError("internal", `the schema of \`${name}\` does not compile`);
  const checked = checkArguments({ inputSchema: tool.inputSchema, compiled }, input);
  if (!checked.ok)
    return fail(
      new PortcullisError("invalid_arguments", `the arguments of \`${name}\` do not fit`),
      checked.hint,
    );
  const args = checked.arguments;
  if (name === META_TOOL_NAMES.call) {
    const inner = args["arguments"];
    return callThrough(textOf(args, "name"), isJsonObject(inner) ? inner : {}, options);
  }
  const release = holdProcess();
  const link = linkAbort(core.signal, turn.signal, options.signal);
  let seat: Seat<() => Running> | undefined;
  let text: string;
  try {
    throwIfAborted(core.draining);
    seat = core.running.add(() => ({ callId: facts.callId, server: null, tool: name }));
    text = await answer(core, { principal: turn.principal, signal: link.signal }, name, args);
  } catch (cause) {
    return fail(asCancelled(cause, link.signal));
  } finally {
    if (seat !== undefined) core.running.remove(seat);
    link.unlink();
    release();
  }
  const structured = parseJson(text);
  return {
    ...facts,
    grade: "L0",
    outcome: "completed",
    code: null,
    effect: "none",
    message: `\`${name}\` answered`,
    content: [{ type: "text", text }],
    ...(structured === undefined ? {} : { structured: structured as JsonValue }),
    model: text,
    durationMs: core.clock.monotonic() - startedMs,
  };
}

/** Who asks. */
type Asking = Pick<TurnState, "principal" | "signal">;

/** @throws PortcullisError `unknown_tool`; or the signal's reason. */
async function answer(core: Core, who: Asking, name: string, args: JsonObject): Promise<string> {
  const id = name === READ_MORE.exposedName ? textOf(args, "id") : textOf(args, "name");
  const text =
    name === READ_MORE.exposedName
      ? await readOn(core, who, id, Number(args["page"]))
      : await lookUp(core, await listOffered(core, who.principal, who.signal), name, args);
  throwIfAborted(who.signal);
  if (text === undefined) throw new PortcullisError("unknown_tool", `there is nothing under \`${id}\``);
  return text;
}

async function lookUp(
  core: Core,
  listed: readonly ListedTool[],
  name: string,
  args: JsonObject,
): Promise<string | undefined> {
  return name === META_TOOL_NAMES.find ? find(core, listed, args) : describe(listed, textOf(args, "name"));
}

async function find(core: Core, listed: readonly ListedTool[], args: JsonObject): Promise<string> {
  const search = await searchOf(core, listed);
  const { server, limit } = args;
  const hits = search.find(textOf(args, "query"), {
    ...(typeof server === "string" ? { server } : {}),
    limit: typeof limit === "number" ? limit : 10,
  });
  const tools = hits.map(({ item }) => ({
    name: item.exposedName,
    about: (item.description ?? item.title ?? "").split("\n")[0]?.slice(0, 160) ?? "",
  }));
  return JSON.stringify({ tools });
}

function describe(listed: readonly ListedTool[], name: string): string | undefined {
  const tool = listed.find((one) => one.exposedName === name);
  return tool === undefined ? undefined : JSON.stringify(toMcpTool(tool));
}

async function readOn(
  core: Core,
  { principal }: Asking,
  id: string,
  page: number,
): Promise<string | undefined> {
  const rest = await core.rests.readMore(id, principal, page);
  if (rest === undefined) return undefined;
  const { text } = core.channels.modelText("result", { server: "portcullis", name: id }, rest.text, {
    restId: id,
    page: rest.page,
    pages: rest.pages,
    isReleased: rest.isReleased,
  });
  return text;
}

/** A member that the schema has checked to be a text; empty where it is left out. */
function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}
