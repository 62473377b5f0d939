/** Which servers can be locked: what is fetched from npm, under a name that is found in the entry. Pure. */
import type { ServerConfig } from "../config/compiled.ts";
import { findPackageArgument, type PackageArgument } from "../config/package-argument.ts";
import { PortcullisError } from "../errors.ts";

const ONLY_NPM = "only npm packages are locked here";

/** @throws PortcullisError `usage`, with what to do instead. */
export function findLockable(server: ServerConfig): Extract<PackageArgument, { kind: "found" }> {
  const { name, launch } = server;
  const refuse = (why: string): PortcullisError =>
    new PortcullisError("usage", `\`${name}\` cannot be locked: ${why}`);
  if (launch.kind !== "stdio") throw refuse("it is a remote server, and starts nothing here");
  const launched = server.package;
  if (launched === null)
    throw refuse(server.blocked?.reason ?? "its program is your own: nothing is fetched");
  if (launched.ecosystem === "oci")
    throw refuse(
      `${ONLY_NPM}; an image is held to its bytes by its digest: name it as \`IMAGE@sha256:…\` (\`docker pull\` prints the digest)`,
    );
  if (launched.ecosystem === "pypi")
    throw refuse(
      `${ONLY_NPM}; install it with a lock file of its own (\`uv pip compile --generate-hashes\`, \`uv pip sync\`) and start its program`,
    );
  const args = launch.args.map(({ template }) => template);
  const found = findPackageArgument(launch.command.template, args, launched);
  if (found.kind === "unclear") throw refuse(found.reason);
  return found;
}
