/**
 * The address of a database as a `postgresql://` URL names it (libpq's connection URIs). Everything that the driver would look
 * for elsewhere (PGHOST, PGPASSWORD, ~/.pgpass) is decided here. No message and no label holds the password.
 */
import { PortcullisError } from "../errors.ts";

export interface PostgresAddress {
  /** A name, an address, or the absolute folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Empty where there is none. */
  readonly password: string;
  readonly database: string;
  /** Where our tables are. */
  readonly schema: string;
  /** `null`: no TLS. */
  readonly tls: PostgresTls | null;
  /** What people are shown: `postgresql://user@host:port/database`. */
  readonly label: string;
}

export interface PostgresTls {
  /** What of the server's certificate is checked. */
  readonly verifies: "nothing" | "authority" | "authority and name";
  /** PEM files; `null` where none is named. */
  readonly authorityFile: string | null;
  readonly certificateFile: string | null;
  readonly keyFile: string | null;
}

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = "portcullis";

const TLS_MODES: ReadonlyMap<string, PostgresTls["verifies"] | null> = new Map([
  ["disable", null],
  ["require", "nothing"],
  ["verify-ca", "authority"],
  ["verify-full", "authority and name"],
]);

const PARAMETERS = ["host", "schema", "sslcert", "sslkey", "sslmode", "sslrootcert", "user"] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * Reads the URL. Without `sslmode` a server elsewhere must show a certificate for its name; one on loopback, or behind a socket,
 * is spoken to without TLS.
 *
 * @throws `config_invalid` with what is wrong and how to write it.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = readUrl(text);
  const parameters = readParameters(url);
  const host = parameters.get("host") ?? decode(url.hostname, "host").replaceAll(/^\[|\]$/g, "");
  if (host === "") throw wrong("it names no host: write `postgresql://USER@HOST/DATABASE`");
  if (host.includes(",")) throw wrong("it names several hosts: name one");
  const user = parameters.get("user") ?? decode(url.username, "user");
  if (user === "") throw wrong("it names no user: write `postgresql://USER@HOST/DATABASE`");
  const database = decode(url.pathname.slice(1), "database");
  if (database === "") throw wrong("it names no database: write `postgresql://USER@HOST/DATABASE`");
  const schema = parameters.get("schema") ?? DEFAULT_SCHEMA;
  // It becomes part of statements as it is.
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw wrong("`schema` must be small letters, digits and `_`, at most 63 characters");
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  const isSocket = host.startsWith("/");
  const place = isSocket || host.includes(":") ? `[${host}]` : host;
  return {
    host,
    port,
    user,
    password: decode(url.password, "password"),
    database,
    schema,
    tls: readTls(parameters, isSocket || isLoopback(host)),
    label: `postgresql://${encodeURIComponent(user)}@${place}:${port}/${encodeURIComponent(database)}`,
  };
}

function readUrl(text: string): URL {
  // The error of `URL` holds its input, and with it the password: it is no cause.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw wrong(
      "it must be a URL like `postgresql://USER:PASSWORD@HOST:5432/DATABASE`; " +
        "write `%23`, `%2F` and `%25` for `#`, `/` and `%` in a password",
    );
  if (url.hash !== "") throw wrong("it has a `#` that nothing belongs to: remove it, or write `%23`");
  return url;
}

function readParameters({ searchParams }: URL): ReadonlyMap<Parameter, string> {
  const found = new Map<Parameter, string>();
  for (const [name, value] of searchParams) {
    const known = PARAMETERS.find((parameter) => parameter === name);
    if (known === undefined)
      throw wrong(`it does not take \`${name.slice(0, 40)}\`; it takes ${PARAMETERS.join(", ")}`);
    if (value === "") throw wrong(`its \`${name}\` is empty`);
    found.set(known, value);
  }
  return found;
}

function readTls(parameters: ReadonlyMap<Parameter, string>, isLocal: boolean): PostgresTls | null {
  const mode = parameters.get("sslmode") ?? (isLocal ? "disable" : "verify-full");
  const verifies = TLS_MODES.get(mode);
  if (verifies === undefined)
    throw wrong(`its \`sslmode\` must be one of ${[...TLS_MODES.keys()].join(", ")}`);
  if (verifies === null) return null;
  const certificateFile = parameters.get("sslcert") ?? null;
  const keyFile = parameters.get("sslkey") ?? null;
  if ((certificateFile === null) !== (keyFile === null))
    throw wrong("it takes `sslcert` and `sslkey` together");
  return { verifies, authorityFile: parameters.get("sslrootcert") ?? null, certificateFile, keyFile };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(`its ${part} has a \`%\` that encodes nothing: write \`%25\` for a \`%\``);
  }
}

function wrong(problem: string): PortcullisError {
  return new PortcullisError("config_invalid", `the URL of \`store\` cannot be used: ${problem}`);
}
