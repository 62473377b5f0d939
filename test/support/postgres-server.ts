/**
 * A PostgreSQL server of a test's own: a cluster in a temporary folder, on a socket there and on a free port of loopback, without
 * syncs of the disk. Needs `initdb` and `pg_ctl`; where they are missing `postgresSuite` says so aloud, and fails under CI.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { appendFile, chmod, chown, copyFile, mkdtemp, rm } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";

const run = promisify(execFile);

/** Where Debian puts the programs of a server, out of the way of its clients. */
const DEBIAN = "/usr/lib/postgresql";

export interface PostgresServer {
  /** Holds the socket. */
  readonly folder: string;
  readonly port: number;
  /** Environment and user for programs that speak to it. */
  readonly as: { readonly env: NodeJS.ProcessEnv; readonly uid?: number; readonly gid?: number };
  /** The superuser is `owner`; local connections need no password. @param query for example `schema=a`. */
  url(query?: string): string;
  start(): Promise<void>;
  /** Speaks TLS from its next start on. @param folder holds `server.pem` and `server.key`. */
  useTls(folder: string): Promise<void>;
  /** `immediate` ends it as a crash does. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** Ends it and takes its files away. */
  end(): Promise<void>;
}

const programs = findPrograms();
/** The server refuses to run as root, so there it runs as the user that its package made. */
const user = findUser();
const isThere = programs !== null && user !== null;

/** `describe` for tests that need a server. */
export function postgresSuite(title: string, tests: () => void): void {
  if (isThere) describe(title, tests);
  else if (process.env["CI"] === "true")
    throw new Error(`${title}: there is no PostgreSQL here: install Debian's package \`postgresql\``);
  else describe.skip(`${title}: not run, there is no PostgreSQL on this machine`, tests);
}

export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "portcullis-pg-"));
  await chmod(folder, 0o711);
  if (user?.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const port = await findFreePort();
  const path = `${programs ?? ""}${delimiter}${process.env["PATH"] ?? ""}`;
  const as = { ...user, env: { PATH: path, LC_ALL: "C.UTF-8", TZ: "UTC" } };
  const control = async (...args: readonly string[]): Promise<void> => {
    await run("pg_ctl", ["-D", data, "-w", ...args], { ...as, cwd: folder });
  };
  const options = [
    `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder}`,
    "-c fsync=off -c max_connections=40 -c shared_buffers=16MB",
  ].join(" ");
  const server: PostgresServer = {
    folder,
    port,
    as,
    url: (query = "") => `postgresql://owner@127.0.0.1:${port}/postgres?${query}`,
    // Its output goes to a file: with a pipe, the server would hold it open as long as it runs.
    start: () => control("-l", join(folder, "log"), "-o", options, "start"),
    async useTls(tls) {
      for (const [from, to] of [
        ["server.pem", "server.crt"],
        ["server.key", "server.key"],
      ] as const) {
        const file = join(data, to);
        await copyFile(join(tls, from), file);
        await chmod(file, 0o600);
        if (user?.uid !== undefined && user.gid !== undefined) await chown(file, user.uid, user.gid);
      }
      await appendFile(join(data, "postgresql.conf"), "\nssl = on\n");
    },
    stop: (mode) => control("-m", mode, "stop"),
    async end() {
      await server.stop("immediate").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await run("initdb", ["-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    ...as,
    cwd: folder,
  });
  await server.start();
  return server;
}

/** The folder of `initdb` and `pg_ctl`; empty where they are on the path; `null` where there are none. */
function findPrograms(): string | null {
  if (works("initdb", ["--version"]) && works("pg_ctl", ["--version"])) return "";
  if (!existsSync(DEBIAN)) return null;
  const newest = readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one))[0];
  const folder = join(DEBIAN, newest ?? "", "bin");
  return existsSync(join(folder, "initdb")) ? folder : null;
}

function works(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function findUser(): { readonly uid?: number; readonly gid?: number } | null {
  if (process.getuid?.() !== 0) return {};
  try {
    const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
