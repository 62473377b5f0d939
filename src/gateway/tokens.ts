/**
 * The two tokens of a gateway and the 0600 file that holds them. They outlive a restart, so that what agents were configured
 * with stays valid; a file that others could read has told them, and they are made anew. Layout and reading:
 * `operations/gateway-file.ts`.
 */
import { lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomId, type Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import { gatewayFilePath, readGatewayFile, type GatewayFile } from "../operations/gateway-file.ts";
import { prepareStateDirectory } from "../store/state-directory.ts";
import type { Door } from "./access.ts";

export interface GatewayTokens {
  readonly tokens: Readonly<Record<Door, string>>;
  /** This process serves at `url` from now on. */
  announce(url: string): void;
  /** It does not any more; the tokens stay. */
  release(): void;
}

const TOKEN_BYTES = 32;
const GROUP_OR_OTHERS = 0o077;

/**
 * Reads the tokens of a state directory, or makes them.
 *
 * @throws PortcullisError `state_unusable`.
 */
export function openTokens(stateDir: string, random: Random, configFile: string | null): GatewayTokens {
  prepareStateDirectory(stateDir);
  const path = gatewayFilePath(stateDir);
  const kept = isOurs(path) ? readGatewayFile(stateDir) : undefined;
  const mcpToken = kept?.mcpToken ?? randomId(random, TOKEN_BYTES);
  const adminToken = kept?.adminToken ?? randomId(random, TOKEN_BYTES);
  const write = (facts: Pick<GatewayFile, "pid" | "url">): void => {
    const next = `${path}.${process.pid}.${randomId(random, 6)}`;
    try {
      writeFileSync(next, `${JSON.stringify({ ...facts, adminToken, mcpToken, configFile })}\n`, {
        mode: 0o600,
        flag: "wx",
      });
      renameSync(next, path);
    } catch (cause) {
      rmSync(next, { force: true });
      throw new PortcullisError("state_unusable", `\`${path}\` cannot be written`, { cause });
    }
  };
  return {
    tokens: { mcp: mcpToken, admin: adminToken },
    announce: (url) => write({ pid: process.pid, url }),
    release() {
      const now = readGatewayFile(stateDir);
      // Another process may have taken the state over meanwhile.
      if (now?.pid === process.pid) write({ pid: null, url: now.url });
    },
  };
}

/** A file of this user that nobody else may read. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return false;
  const uid = process.getuid?.();
  return uid === undefined || (found.uid === uid && (found.mode & GROUP_OR_OTHERS) === 0);
}
