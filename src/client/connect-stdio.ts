/** A connected client in one call, over a process: for programs that use the client without the host. */
import { systemClock } from "../base/clock.ts";
import { isJsonObject } from "../base/json.ts";
import { systemRandom } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import { createStdioTransport } from "../transport/stdio.ts";
import { createClient, type Client } from "./client.ts";
import type { ClientOptions, ConnectOptions } from "./options.ts";

export interface StdioTarget {
  /** Looked for in the PATH of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Complete: nothing of this process's environment is added. Without PATH only an absolute command is found. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

/**
 * Starts the process, settles the era and shakes hands. Where the server leaves because of the era probe, it is started once
 * more as a legacy server. Whoever called closes the client; the process group is gone when `close` resolves.
 *
 * @throws PortcullisError like `Client.connect`, and `usage` for a target of wrong types.
 */
export async function connectStdio(target: StdioTarget, options: ConnectOptions): Promise<Client> {
  checkTarget(target);
  const { signal, clock = systemClock, ...others } = options;
  const start = async (more: Pick<ClientOptions, "eraHint"> | undefined): Promise<Client> => {
    const transport = createStdioTransport({ ...target, args: target.args ?? [], clock });
    const client = createClient({ ...others, ...more, transport, clock, random: systemRandom });
    await client.connect(signal);
    return client;
  };
  try {
    return await start(undefined);
  } catch (error) {
    if (!(error instanceof PortcullisError) || error.data["startAgainWith"] !== "legacy") throw error;
    return start({ eraHint: "legacy" });
  }
}

/** There are no types in JavaScript, and what is missing would look like a server that cannot be started. */
function checkTarget(target: StdioTarget): void {
  const { command, args, env, cwd }: Partial<Record<keyof StdioTarget, unknown>> = isJsonObject(target)
    ? target
    : {};
  const isText = (value: unknown): boolean => typeof value === "string";
  const wrong =
    (!isText(command) && "`command` must be text") ||
    (args !== undefined &&
      !(Array.isArray(args) && args.every(isText)) &&
      "`args` must be a list of texts") ||
    (!(isJsonObject(env) && Object.values(env).every(isText)) &&
      "`env` must be an object of texts: nothing of this process's environment is added") ||
    (!isText(cwd) && "`cwd` must be the absolute path of a folder");
  if (wrong !== false) throw new PortcullisError("usage", wrong);
}
