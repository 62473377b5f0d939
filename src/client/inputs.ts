/** The name under which `input-handler.ts` was known before; to be deleted with its last importer. */
export type { InputHandler } from "./input-handler.ts";
