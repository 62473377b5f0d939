/**
 * Exposed URIs: a resource of one server as the clients of the gateway see it. The server's URI stands behind a prefix,
 * character by character, so that the way back is lossless, a template stays one (what is filled in fits the server's own),
 * and a part of a resource still begins with the whole.
 */

const PREFIX = "portcullis://";

/** What both are called together. */
export interface ResourceAddress {
  readonly server: string;
  /** As the server wrote it. */
  readonly uri: string;
}

/** The exposed form of a URI or a template of one. @param server names of servers need no escape in a URI. */
export function exposeUri(server: string, uri: string): string {
  return `${PREFIX}${server}/${uri}`;
}

/** @returns `undefined` for a URI that is no exposed one. */
export function splitUri(exposed: string): ResourceAddress | undefined {
  if (!exposed.startsWith(PREFIX)) return undefined;
  const slash = exposed.indexOf("/", PREFIX.length);
  const server = slash === -1 ? "" : exposed.slice(PREFIX.length, slash);
  const uri = exposed.slice(slash + 1);
  return server === "" || uri === "" ? undefined : { server, uri };
}
