/** The version of this package, as it stands in its manifest: beside `src/` in a clone, beside `dist/` where it is installed. */
import { readFileSync } from "node:fs";

export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
