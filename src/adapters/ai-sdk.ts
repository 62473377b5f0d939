/**
 * Tools for the AI SDK. Its constructors are passed in, so that nothing here imports the SDK:
 *
 * ```ts
 * import { dynamicTool, generateText, jsonSchema } from "ai";
 * const tools = await toAiSdkTools(turn, { dynamicTool, jsonSchema });
 * const { text } = await generateText({ model, tools, prompt });
 * ```
 */
import type { OfferToolsOptions, Turn } from "../host/api.ts";

/** What is used of `ai`. The parameters are whatever its version wants: `never` takes them all. */
export interface AiSdkConstructors<Made> {
  readonly jsonSchema: (schema: never) => unknown;
  readonly dynamicTool: (tool: never) => Made;
}

interface Execution {
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * The turn's tools as a tool set, by exposed name. What the model gets back of every call is the model's channel, of failures
 * too, which say what it may do next; nothing is thrown for what a server, a person or the network did.
 */
export async function toAiSdkTools<Made>(
  turn: Pick<Turn, "offer">,
  { dynamicTool, jsonSchema }: AiSdkConstructors<Made>,
  options: OfferToolsOptions = {},
): Promise<Record<string, Made>> {
  const offer = await turn.offer("ai-sdk", options);
  const made = Object.entries(offer.tools).map(([name, { description, inputSchema }]) => {
    const tool = {
      description,
      inputSchema: jsonSchema(inputSchema as never),
      async execute(input: unknown, { abortSignal }: Execution): Promise<string> {
        const outcome = await offer.call(
          name,
          input,
          abortSignal === undefined ? {} : { signal: abortSignal },
        );
        return outcome.model;
      },
    };
    return [name, dynamicTool(tool as never)] as const;
  });
  return Object.fromEntries(made);
}
