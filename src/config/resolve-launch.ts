/** Everything that starting or reaching one server needs, with its references resolved: in one pass, just before it is used. */
import { PortcullisError } from "../errors.ts";
import type { LateText, ServerConfig } from "./compiled.ts";
import { isLoopbackName } from "./compile-remote.ts";
import { formatPath } from "./problems.ts";
import { resolveLate, type LateResolver } from "./secrets.ts";

export type ResolvedLaunch =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      /** What the entry names; `childEnvironment` makes the whole environment of it. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly secrets: readonly string[];
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      readonly secrets: readonly string[];
    };

/**
 * Resolves the launch of `server`.
 *
 * @throws PortcullisError `secret_unresolved`, or `config_invalid` where a resolved value cannot be used (a line break in a
 * header, a NUL, an address that is none); neither names a value. The signal's reason.
 */
export async function resolveLaunch(
  server: ServerConfig,
  resolver: LateResolver,
  signal?: AbortSignal,
): Promise<ResolvedLaunch> {
  const secrets = new Set<string>();
  const resolve = async (late: LateText, ...path: readonly (string | number)[]): Promise<string> => {
    const where = formatPath(["mcpServers", server.name, ...path]);
    const resolved = await resolveLate(late, resolver, where, signal);
    for (const secret of resolved.secrets) secrets.add(secret);
    const isHeader = path[0] === "headers";
    if ((isHeader ? /[\r\n\0]/ : /\0/).test(resolved.value)) {
      const what = isHeader ? "a line break, which no header can hold" : "a NUL character";
      throw new PortcullisError("config_invalid", `${where}: the value that it refers to holds ${what}`);
    }
    return resolved.value;
  };
  const resolveAll = async (
    texts: Readonly<Record<string, LateText>>,
    key: string,
  ): Promise<Readonly<Record<string, string>>> => {
    const values: Record<string, string> = {};
    for (const [name, late] of Object.entries(texts)) values[name] = await resolve(late, key, name);
    return values;
  };
  const { launch } = server;
  if (launch.kind === "stdio") {
    const command = await resolve(launch.command, "command");
    const args: string[] = [];
    for (const [index, arg] of launch.args.entries()) args.push(await resolve(arg, "args", index));
    const env = await resolveAll(launch.env, "env");
    return { kind: "stdio", command, args, env, cwd: launch.cwd, secrets: [...secrets] };
  }
  const text = await resolve(launch.url, "url");
  const headers = await resolveAll(launch.headers, "headers");
  return { kind: launch.kind, url: toUrl(text, server), headers, secrets: [...secrets] };
}

/** Judges an address like `checkUrl` does, now that its references are known. */
function toUrl(text: string, server: ServerConfig): URL {
  const fail = (why: string): PortcullisError =>
    new PortcullisError(
      "config_invalid",
      `${formatPath(["mcpServers", server.name, "url"])}: what it refers to ${why}`,
    );
  if (!URL.canParse(text)) throw fail("is no URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw fail("is no http address: write `https://…`");
  if (url.username !== "" || url.password !== "")
    throw fail("holds a user name or password: send it in `headers` instead");
  if (url.protocol === "https:") return url;
  if (!isLoopbackName(url.hostname)) throw fail("is plain http: write `https://…`");
  if (!server.allowPrivateAddresses) throw fail('is on this machine: add "allowPrivateAddresses": true');
  return url;
}
