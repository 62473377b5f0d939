/**
 * Late references in configured text, one documented syntax: `${env:NAME}`, `${file:PATH}`, `${keychain:NAME}`, and the
 * `${NAME}` and `${NAME:-default}` of other clients, read as `env`. `$${` stands for a literal `${`. References do not nest.
 * One pass: what a reference gives is never read for references again. Linear in the text.
 */

type ReferenceScheme = "env" | "file" | "keychain";

export interface Reference {
  readonly scheme: ReferenceScheme;
  /** Name of the variable or entry, or path of the file as written. */
  readonly name: string;
  /** What stands for an unset or empty value; `null`: there must be one. */
  readonly fallback: string | null;
}

type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reference"; readonly reference: Reference; readonly source: string };

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly message: string };

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
const KEYCHAIN_NAME = /^[A-Za-z0-9_.@/:-]{1,256}$/;

/** Variables of editors that have no meaning here, and what to write instead. */
const EDITOR_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["workspaceFolder", "write a path relative to this file"],
  ["workspaceFolderBasename", "write the name itself"],
  ["workspaceRoot", "write a path relative to this file"],
  ["userHome", "write `${env:HOME}`"],
  ["pathSeparator", "write `/`"],
]);

/** Splits configured text into literal parts and references. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let literal = "";
  let at = 0;
  for (;;) {
    const open = text.indexOf("${", at);
    if (open < 0) break;
    if (open > 0 && text[open - 1] === "$" && open - 1 >= at) {
      literal += `${text.slice(at, open - 1)}\${`;
      at = open + 2;
      continue;
    }
    const close = text.indexOf("}", open);
    if (close < 0)
      return { ok: false, message: "`${` is never closed: add `}`, or write `$${` for a literal `${`" };
    literal += text.slice(at, open);
    const parsed = parseReference(text.slice(open + 2, close));
    if (typeof parsed === "string") return { ok: false, message: parsed };
    if (literal !== "") parts.push({ kind: "text", text: literal });
    literal = "";
    parts.push({ kind: "reference", reference: parsed, source: text.slice(open, close + 1) });
    at = close + 1;
  }
  literal += text.slice(at);
  if (literal !== "") parts.push({ kind: "text", text: literal });
  return { ok: true, parts };
}

/** The reference inside the braces, or a message that says what is wrong with it. */
function parseReference(body: string): Reference | string {
  const shown = JSON.stringify(body.length > 60 ? `${body.slice(0, 60)}…` : body).slice(1, -1);
  if (body.includes("${")) return `references do not nest: \`\${${shown}…\``;
  const scheme = /^([A-Za-z]+):(?!-)/.exec(body)?.[1];
  if (scheme === undefined) return parseVariable(body, shown);
  const name = body.slice(scheme.length + 1);
  if (scheme === "env") return parseVariable(name, shown);
  if (scheme === "file") {
    if (name === "" || name.includes("\0")) return "`${file:}` needs the path of a file";
    return { scheme, name, fallback: null };
  }
  if (scheme === "keychain") {
    if (!KEYCHAIN_NAME.test(name)) return `\`\${${shown}}\` needs the name of a keychain entry`;
    return { scheme, name, fallback: null };
  }
  if (scheme === "input") {
    return `\`\${${shown}}\` is asked for by an editor: set a variable and write \`\${env:NAME}\``;
  }
  return `\`\${${shown}}\` is unknown: write \`\${env:NAME}\`, \`\${file:PATH}\` or \`\${keychain:NAME}\`, or \`$\${\` for a literal \`\${\``;
}

function parseVariable(body: string, shown: string): Reference | string {
  const split = body.indexOf(":-");
  const name = split < 0 ? body : body.slice(0, split);
  const advice = EDITOR_VARIABLES.get(name);
  if (advice !== undefined) return `\`\${${shown}}\` belongs to an editor: ${advice}`;
  if (!VARIABLE_NAME.test(name)) {
    return `\`\${${shown}}\` is no name of a variable: write \`\${env:NAME}\`, or \`$\${\` for a literal \`\${\``;
  }
  return { scheme: "env", name, fallback: split < 0 ? null : body.slice(split + 2) };
}
