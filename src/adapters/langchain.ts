/**
 * Tools for LangChain. Its constructor is passed in, so that nothing here imports it:
 *
 * ```ts
 * import { DynamicStructuredTool } from "@langchain/core/tools";
 * const tools = await toLangChainTools(turn, { DynamicStructuredTool });
 * const agent = createAgent({ model, tools });
 * ```
 */
import type { OfferToolsOptions, Turn } from "../host/api.ts";

/** What is used of `@langchain/core/tools`. The parameter is whatever its version wants: `never` takes them all. */
export interface LangChainConstructors<Made> {
  readonly DynamicStructuredTool: new (fields: never) => Made;
}

interface RunConfig {
  readonly signal?: AbortSignal | undefined;
}

/** The turn's tools, in the order in which they are offered. Failures come back as text for the model, like results. */
export async function toLangChainTools<Made>(
  turn: Pick<Turn, "offer">,
  { DynamicStructuredTool }: LangChainConstructors<Made>,
  options: OfferToolsOptions = {},
): Promise<Made[]> {
  const offer = await turn.offer("ai-sdk", options);
  return Object.entries(offer.tools).map(([name, { description, inputSchema }]) => {
    const tool = {
      name,
      description,
      schema: inputSchema,
      async func(input: unknown, _runManager?: unknown, config?: RunConfig): Promise<string> {
        const signal = config?.signal;
        const outcome = await offer.call(name, input, signal === undefined ? {} : { signal });
        return outcome.model;
      },
    };
    return new DynamicStructuredTool(tool as never);
  });
}
