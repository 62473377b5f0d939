/** Raw text to `LateText`: literals that look like secrets are masked at once and warned about, with the fix. */
import type { LateText } from "./compiled.ts";
import type { Notes } from "./facts.ts";
import type { ConfigPath } from "./problems.ts";
import { describeSecretShape, maskSecret } from "./secret-shape.ts";

/**
 * @param name of the variable, header or option that holds the text; `null` where it has none.
 * @param variable the environment variable that the warning proposes.
 */
export function compileLateText(
  text: string,
  options: { path: ConfigPath; name: string | null; variable: string; notes: Notes },
): LateText {
  const shape = describeSecretShape(options.name, text);
  if (shape !== null) {
    options.notes.warn(
      options.path,
      `looks like ${shape}, and this file is no place for it: set a variable and write \`\${env:${options.variable}}\``,
    );
    return Object.freeze({ template: maskSecret(text, options.name), reveal: () => text });
  }
  const bare = /^(?:\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%)$/.exec(text);
  const variable = bare?.[1] ?? bare?.[2];
  if (variable !== undefined) {
    options.notes.warn(options.path, `is used as it stands: write \`\${env:${variable}}\` for the variable`);
  }
  return Object.freeze({ template: text });
}

/** A name for the environment variable of a secret: `github`, `X-Api-Key` become `GITHUB_X_API_KEY`. */
export function proposeVariable(...parts: readonly string[]): string {
  const name = parts
    .join("_")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `PORTCULLIS_${name}`;
}
