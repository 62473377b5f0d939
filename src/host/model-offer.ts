/** What a model is offered: all tools, or, when they would fill too much of its window, the ones that find and call them. */
import type { Tool } from "../protocol/types.ts";
import { META_TOOLS, offerByThreshold } from "../registry/offer.ts";
import {
  readProviderInput,
  toProviderForm,
  type Provider,
  type ProviderForm,
} from "../registry/provider-form.ts";
import { offered, toMcpTool, type OfferedTool } from "../registry/providers.ts";
import type { ListedTool } from "../registry/registry.ts";
import type { OfferToolsOptions, ToolOffer, Turn } from "./api.ts";
import type { Core } from "./core.ts";
import { listOffered } from "./offer.ts";
import { READ_MORE } from "./own-tools.ts";
import type { TurnState } from "./turn.ts";

interface Chosen {
  readonly kind: "whole" | "search";
  /** Of servers; none where they are searched. */
  readonly listed: readonly ListedTool[];
  readonly own: readonly OfferedTool[];
  readonly tokens: number;
  readonly wholeTokens: number;
}

async function choose(core: Core, turn: TurnState, options: OfferToolsOptions): Promise<Chosen> {
  const listed = await listOffered(core, turn.principal, turn.signal);
  const configured = core.config().catalog;
  const mode = options.mode ?? configured.mode;
  const { kind, tokens, wholeTokens } = offerByThreshold(listed.map(offered), {
    mode: mode === "auto" ? "threshold" : mode,
    windowTokens: options.thresholdTokens ?? configured.thresholdTokens,
    share: 1,
  });
  return kind === "whole"
    ? { kind, listed, own: [READ_MORE], tokens, wholeTokens }
    : { kind, listed: [], own: [...META_TOOLS, READ_MORE], tokens, wholeTokens };
}

/** In MCP's own form. */
export async function offerTools(core: Core, turn: TurnState): Promise<readonly Tool[]> {
  return mcpForm(await choose(core, turn, {})).tools;
}

/** In the form of one provider, with the way back. */
export async function offerFor<P extends Provider>(
  core: Core,
  turn: TurnState,
  provider: P,
  options: OfferToolsOptions,
  call: Turn["call"],
): Promise<ToolOffer<P>> {
  const chosen = await choose(core, turn, options);
  const { tools, toArguments, notes } = formOf(provider, chosen, options);
  const { kind, tokens, wholeTokens } = chosen;
  return {
    provider,
    kind,
    tools,
    notes,
    tokens,
    wholeTokens,
    call: async (name, input, callOptions) =>
      // A name that was never offered is refused by the spine, which says which are near.
      call(name, readProviderInput(toArguments.get(name) ?? same, input), callOptions),
  };
}

const same = (input: unknown): unknown => input;

function formOf<P extends Provider>(
  provider: P,
  chosen: Chosen,
  options: OfferToolsOptions,
): ProviderForm<P> {
  if (isMcp(provider)) return mcpForm(chosen) as ProviderForm<Provider> as ProviderForm<P>;
  const tools = [...chosen.listed.map(offered), ...chosen.own];
  const form = toProviderForm(provider as Exclude<P, "mcp">, tools, {
    strict: options.strict ?? false,
  });
  return form as ProviderForm<Provider> as ProviderForm<P>;
}

function isMcp(provider: Provider): provider is "mcp" {
  return provider === "mcp";
}

function mcpForm({ listed, own }: Chosen): ProviderForm<"mcp"> {
  return { tools: [...listed.map(toMcpTool), ...own.map(ownTool)], toArguments: new Map(), notes: [] };
}

function ownTool({ exposedName, description, inputSchema }: OfferedTool): Tool {
  return { name: exposedName, ...(description === null ? {} : { description }), inputSchema };
}
