/**
 * Text of another client to text of ours: its variables become references, and a literal that looks like a secret becomes a
 * reference to a variable that the operator has to set. The literal itself goes nowhere.
 */
import { proposeVariable } from "../late-text.ts";
import { parseTemplate } from "../references.ts";
import { describeSecretShape } from "../secret-shape.ts";

/** `none`: everything is literal. `braces`: `${X}`, `${env:X}`, `${X:-d}`. `dollar`: `$X` and `${X}`. */
export type VariableStyle = "none" | "braces" | "dollar";

interface TextPlace {
  readonly server: string;
  /** Name of the variable, header or option; `url` or `command`. */
  readonly where: string;
  readonly note: (message: string) => void;
}

export interface TextConverter {
  convert(value: string, place: TextPlace): string;
}

export function createTextConverter(style: VariableStyle): TextConverter {
  /** Which literal a proposed variable stands for, so that two secrets never share one name. */
  const proposed = new Map<string, string>();

  const propose = (secret: string, place: TextPlace): string => {
    const isVariable = /^[A-Z][A-Z0-9_]*$/.test(place.where);
    const what = place.where === "Authorization" ? "TOKEN" : place.where;
    const candidates = [...(isVariable ? [place.where] : []), proposeVariable(place.server, what)];
    for (let number = 2; number < 100; number += 1)
      candidates.push(`${proposeVariable(place.server, what)}_${number}`);
    const name = candidates.find((candidate) => (proposed.get(candidate) ?? secret) === secret) ?? "SECRET";
    proposed.set(name, secret);
    return name;
  };

  return {
    convert(value, place) {
      const shape = describeSecretShape(place.where, value) ?? describeUrlSecret(value);
      if (shape !== null) {
        const [before, secret, after] = splitSecret(value, place.where);
        const name = propose(secret, place);
        place.note(`\`${place.where}\` holds ${shape}, which was not copied: set the variable \`${name}\``);
        return `${escapeLiteral(before)}\${env:${name}}${escapeLiteral(after)}`;
      }
      if (style === "none") return escapeLiteral(value);
      return convertVariables(style === "dollar" ? bracesOf(value) : value, place);
    },
  };
}

/** `${` is no reference where the other client knows none. */
function escapeLiteral(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/** `$NAME` as `${NAME}`; a `$` before anything else is a dollar. */
function bracesOf(text: string): string {
  return text.replaceAll(/\$(?!\{)([A-Za-z_]\w*)/g, "${$1}");
}

/** A secret in a query parameter of an address. */
function describeUrlSecret(value: string): string | null {
  if (!/^https?:/.test(value) || !URL.canParse(value)) return null;
  for (const [name, text] of new URL(value).searchParams) {
    const shape = describeSecretShape(name, text);
    if (shape !== null) return shape;
  }
  return null;
}

/** What stands before the secret, the secret, and what stands after it. */
function splitSecret(value: string, where: string): readonly [string, string, string] {
  const query = /^(https?:.*?[?&]([^=&]+)=)([^&#]+)(.*)$/.exec(value);
  if (query?.[1] !== undefined && query[3] !== undefined && describeUrlSecret(value) !== null) {
    return [query[1], query[3], query[4] ?? ""];
  }
  const scheme = /^(?:bearer|basic|token)\s+/i.exec(value)?.[0] ?? "";
  if (scheme !== "") return [scheme, value.slice(scheme.length), ""];
  const option = /^--?[A-Za-z][\w-]*=/.exec(value)?.[0] ?? "";
  if (option !== "" && where !== "url") return [option, value.slice(option.length), ""];
  return ["", value, ""];
}

/** Known references stay; those of an editor are replaced or made literal, and said. */
function convertVariables(text: string, place: TextPlace): string {
  return text.replaceAll(/\$\{([^}]{0,4096})\}/g, (source: string, body: string) => {
    if (body.startsWith("env:")) return variableReference(body.slice(4), source, place);
    if (body.startsWith("input:")) {
      const name = proposeVariable(body.slice("input:".length));
      place.note(`\`${place.where}\` was asked for by the editor: set the variable \`${name}\``);
      return `\${env:${name}}`;
    }
    if (/^workspace(?:Folder|Root)$/.test(body)) {
      place.note(
        `\`${place.where}\` named the editor's folder: it is relative to the configuration file now`,
      );
      return ".";
    }
    if (body === "userHome") return "${env:HOME}";
    if (body === "pathSeparator" || body === "/") return "/";
    return variableReference(body, source, place);
  });
}

function variableReference(body: string, source: string, place: TextPlace): string {
  const reference = `\${${body.includes(":-") ? body : `env:${body}`}}`;
  if (parseTemplate(reference).ok) return reference;
  place.note(`\`${place.where}\` holds a variable that is not known here; it is taken as plain text`);
  return `$${source}`;
}
