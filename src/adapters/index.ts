/** `portcullis/adapters`: a turn's tools as objects of agent frameworks, whose constructors are passed in. */
export { toAiSdkTools } from "./ai-sdk.ts";
export type { AiSdkConstructors } from "./ai-sdk.ts";
export { toLangChainTools } from "./langchain.ts";
export type { LangChainConstructors } from "./langchain.ts";
