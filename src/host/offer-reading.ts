/**
 * The resources and prompts that a principal may be offered, in MCP's own form under exposed URIs and names. Their definitions
 * are not pinned, because resources come and go by themselves; each is cleaned and scanned whenever it is listed, and one with
 * a finding of high severity is left out unless the server's entry only marks findings.
 */
import { ownProperty } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { PortcullisError } from "../errors.ts";
import { isInRollout } from "../policy/rollout.ts";
import type { CompletionParams } from "../protocol/completion.ts";
import type { Prompt, Resource, ResourceTemplate } from "../protocol/types.ts";
import type { Catalog, PromptEntry, ResourceEntry } from "../registry/entry.ts";
import { exposeName, splitName } from "../registry/naming.ts";
import { exposeUri, splitUri, type ResourceAddress } from "../registry/resource-uris.ts";
import { cleanAnnotations } from "../results/structured.ts";
import { cleanForModel, clip } from "../text/clean.ts";
import type { Finding } from "../vocabulary.ts";
import { requireServer, type Core } from "./core.ts";
import { listUnseen } from "./offer.ts";
import type { TurnState } from "./turn.ts";

const MAX_DESCRIPTION = 8_000;

export async function offerResources(core: Core, turn: TurnState): Promise<readonly Resource[]> {
  return (await usableCatalogs(core, turn)).flatMap(({ server, catalog }) =>
    catalog.resources.filter(isFit(server)).map((entry) => {
      const size = ownProperty(entry.raw, "size");
      return {
        uri: exposeUri(server.name, entry.uri),
        ...textsOf(entry),
        ...(typeof size === "number" && Number.isFinite(size) && size >= 0 ? { size } : {}),
      };
    }),
  );
}

export async function offerTemplates(core: Core, turn: TurnState): Promise<readonly ResourceTemplate[]> {
  return (await usableCatalogs(core, turn)).flatMap(({ server, catalog }) =>
    catalog.templates
      .filter(isFit(server))
      .map((entry) => ({ uriTemplate: exposeUri(server.name, entry.uri), ...textsOf(entry) })),
  );
}

export async function offerPrompts(core: Core, turn: TurnState): Promise<readonly Prompt[]> {
  return (await usableCatalogs(core, turn)).flatMap(({ server, catalog }) =>
    catalog.prompts.filter(isFit(server)).map((entry) => promptForm(server.name, entry)),
  );
}

/** @throws PortcullisError `unknown_server`, also for what is no exposed URI. */
export function resolveUri(core: Core, exposed: string): ResourceAddress {
  const address = splitUri(exposed);
  if (address === undefined) {
    throw new PortcullisError(
      "unknown_server",
      `\`${exposed.slice(0, 200)}\` is no URI of a list here: those begin with \`portcullis://SERVER/\``,
    );
  }
  requireServer(core.config(), address.server);
  return address;
}

/** Server and name of an exposed prompt. @throws PortcullisError `unknown_server` where no server can be meant. */
export function resolvePrompt(
  core: Core,
  turn: TurnState,
  exposed: string,
): { readonly server: string; readonly name: string } {
  // A name that carries a hash is known by the lists alone.
  for (const server of core.config().servers.values()) {
    const catalog = core.registry.catalog(core.inputs.keyOf(server, turn.principal));
    const entry = catalog?.prompts.find(({ name }) => exposeName(server.name, name) === exposed);
    if (entry !== undefined) return { server: server.name, name: entry.name };
  }
  const plain = splitName(exposed);
  if (plain === undefined) {
    throw new PortcullisError(
      "unknown_server",
      `\`${exposed.slice(0, 200)}\` is no prompt of a list here: those are named \`SERVER__PROMPT\``,
    );
  }
  requireServer(core.config(), plain.server);
  return { server: plain.server, name: plain.tool };
}

/** What the server itself calls the prompt or resource of a completion. @throws PortcullisError as above. */
export function resolveReference(
  core: Core,
  turn: TurnState,
  ref: CompletionParams["ref"],
): { readonly server: string; readonly ref: CompletionParams["ref"] } {
  if (ref.type === "ref/prompt") {
    const { server, name } = resolvePrompt(core, turn, ref.name);
    return { server, ref: { ...ref, name } };
  }
  const { server, uri } = resolveUri(core, ref.uri);
  return { server, ref: { ...ref, uri } };
}

interface Usable {
  readonly server: ServerConfig;
  readonly catalog: Catalog;
}

/** Never waits for a server that was listed before, as with tools. */
async function usableCatalogs(core: Core, { principal, signal }: TurnState): Promise<readonly Usable[]> {
  await listUnseen(core, principal, signal);
  return [...core.config().servers.values()].flatMap((server) => {
    const key = core.inputs.keyOf(server, principal);
    core.lists.used(key);
    const catalog = core.registry.catalog(key);
    if (catalog === undefined || server.disabled || !isInRollout(server, principal)) return [];
    return [{ server, catalog }];
  });
}

function isFit({ scan }: ServerConfig): (entry: { readonly findings: readonly Finding[] }) => boolean {
  return ({ findings }) => scan !== "block" || findings.every(({ severity }) => severity !== "high");
}

function textsOf(entry: ResourceEntry): Omit<Resource, "uri"> {
  const annotations = ownProperty(entry.raw, "annotations");
  const kept = annotations === undefined ? undefined : cleanAnnotations(annotations);
  return {
    name: entry.name,
    ...(entry.title === null ? {} : { title: entry.title }),
    ...descriptionOf(entry.raw),
    ...(entry.mimeType === null ? {} : { mimeType: entry.mimeType }),
    ...(kept === undefined ? {} : { annotations: kept }),
  };
}

function promptForm(server: string, entry: PromptEntry): Prompt {
  return {
    name: exposeName(server, entry.name),
    ...(entry.title === null ? {} : { title: entry.title }),
    ...descriptionOf(entry.raw),
    ...(entry.arguments.length === 0
      ? {}
      : {
          arguments: entry.arguments.map(({ name, description, isRequired }) => ({
            name,
            ...(description === null ? {} : { description }),
            required: isRequired,
          })),
        }),
  };
}

/** A client may show it to a model, so hidden characters are gone, not made visible. */
function descriptionOf(raw: object): { readonly description?: string } {
  const description = ownProperty(raw, "description");
  return typeof description === "string" && description !== ""
    ? { description: clip(cleanForModel(description), MAX_DESCRIPTION) }
    : {};
}
