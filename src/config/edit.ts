/** Edits of a configuration's text that keep its comments, its order and its formatting. Pure: text in, text out. */
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  type FormattingOptions,
  type Node,
} from "jsonc-parser";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Grade } from "../vocabulary.ts";
import { nearestName } from "./nearest.ts";
import { formatPath } from "./problems.ts";
import { removeProperty } from "./remove-property.ts";

/** One change of a configuration. */
export type ConfigEdit = (text: string) => string;

/** Grades one tool (or pattern) of a server; an object rule keeps its other keys. */
export function setGrade(server: string, pattern: string, grade: Grade): ConfigEdit {
  return (text) => {
    const root = requireServer(text, server);
    const rule = findNodeAtLocation(root, ["mcpServers", server, "tools", pattern]);
    const path = ["mcpServers", server, "tools", pattern, ...(rule?.type === "object" ? ["grade"] : [])];
    return setValue(text, path, grade);
  };
}

/** Sets the rollout of a server, or takes it away (`null`: everybody). Keys that are not given stay as they are. */
export function setRollout(
  server: string,
  rollout: { readonly percent?: number; readonly principals?: readonly string[] } | null,
): ConfigEdit {
  return (text) => {
    requireServer(text, server);
    const path = ["mcpServers", server, "rollout"];
    if (rollout === null) return setValue(text, path, undefined);
    let edited = text;
    if (rollout.percent !== undefined) edited = setValue(edited, [...path, "percent"], rollout.percent);
    if (rollout.principals !== undefined)
      edited = setValue(edited, [...path, "principals"], [...rollout.principals]);
    return edited;
  };
}

/** Adds a server. @throws PortcullisError `usage` where the name is taken. */
export function addServer(server: string, entry: JsonObject): ConfigEdit {
  return (text) => {
    const root = parseRoot(text);
    if (findNodeAtLocation(root, ["mcpServers", server]) !== undefined) {
      throw new PortcullisError(
        "usage",
        `there is a server \`${server}\` already: remove it first, or choose another name`,
      );
    }
    return setValue(text, ["mcpServers", server], entry);
  };
}

/** Removes a server with everything in its entry. @throws PortcullisError `unknown_server`. */
export function removeServer(server: string): ConfigEdit {
  return (text) => {
    requireServer(text, server);
    return setValue(text, ["mcpServers", server], undefined);
  };
}

/** Replaces one argument of a local server, for example a package by its locked version. @throws PortcullisError `unknown_server`, `usage`. */
export function setArgument(server: string, index: number, value: string): ConfigEdit {
  return (text) => {
    const root = requireServer(text, server);
    if (findNodeAtLocation(root, ["mcpServers", server, "args", index]) === undefined) {
      throw new PortcullisError("usage", `server \`${server}\` has no argument ${index}`);
    }
    return setValue(text, ["mcpServers", server, "args", index], value);
  };
}

/** Sets one key of a server (`["limits", "timeout"]`), or removes it (`undefined`). @throws PortcullisError `unknown_server`. */
export function setServerKey(
  server: string,
  path: readonly (string | number)[],
  value: JsonValue | undefined,
): ConfigEdit {
  return (text) => {
    requireServer(text, server);
    return setValue(text, ["mcpServers", server, ...path], value);
  };
}

/** Several edits, one after another. */
export function inOrder(...edits: readonly ConfigEdit[]): ConfigEdit {
  return (text) => edits.reduce((edited, edit) => edit(edited), text);
}

function setValue(text: string, path: readonly (string | number)[], value: JsonValue | undefined): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  if (value === undefined) return mark + removeProperty(body, path);
  try {
    // Where an outer object is missing, `modify` makes it.
    const edits = modify(body, [...path], value, { formattingOptions: detectFormatting(body) });
    return mark + applyEdits(body, edits);
  } catch (error) {
    // Something on the way is text or a number and cannot hold a key.
    throw new PortcullisError(
      "usage",
      `\`${formatPath(path)}\` cannot be set: what is there now is no object`,
      { cause: error },
    );
  }
}

/** Indentation and line ends as the file has them. */
function detectFormatting(text: string): FormattingOptions {
  const eol = /\r\n|\n/.exec(text)?.[0] ?? "\n";
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  return { insertSpaces, tabSize: insertSpaces ? Math.min(indent.length, 8) : 4, eol };
}

function parseRoot(text: string): Node {
  const root = parseTree(text.replace(/^\uFEFF/, " "), [], { allowTrailingComma: true });
  if (root?.type !== "object")
    throw new PortcullisError("config_invalid", "the configuration is no object: write `{}` at least");
  return root;
}

function requireServer(text: string, server: string): Node {
  const root = parseRoot(text);
  if (findNodeAtLocation(root, ["mcpServers", server]) !== undefined) return root;
  const names = (findNodeAtLocation(root, ["mcpServers"])?.children ?? []).map((property) =>
    String(property.children?.[0]?.value),
  );
  const near = nearestName(server, names);
  const hint = near === null ? "" : `; did you mean \`${near}\`?`;
  throw new PortcullisError(
    "unknown_server",
    `there is no server \`${server}\` in the configuration${hint}`,
    {
      data: { server, near },
    },
  );
}
