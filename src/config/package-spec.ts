/** How each ecosystem writes a package with its version, and which versions are exact: the same bytes every time. Pure. */
import type { LaunchedPackage } from "./compiled.ts";

/** A package as one argument names it. */
export type PackageSpec =
  | { readonly kind: "exact"; readonly name: string; readonly version: string }
  /** Named, but what is fetched may change from one day to the next. */
  | { readonly kind: "open"; readonly name: string; readonly reason: string }
  /** A folder or file of one's own: nothing is fetched. */
  | { readonly kind: "local" };

const NPM_NAME = /^(@[A-Za-z0-9_.~-]+\/)?[A-Za-z0-9_.~-]+$/;
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const PYPI_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._, -]*\])?$/;
/** PEP 440 without wildcards. */
const PYPI_VERSION = /^(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[A-Za-z0-9.]+)?$/;
const GIT_COMMIT = /@[0-9a-f]{40}(#.*)?$/;
const OCI_DIGEST = /^(.+)@(sha256:[0-9a-f]{64})$/;
const OCI_VERSION_TAG = /^v?\d+\.\d+\.\d+([.-][A-Za-z0-9._-]+)?$/;

/** Reads the argument that names a package. */
export function parsePackageSpec(ecosystem: LaunchedPackage["ecosystem"], spec: string): PackageSpec {
  if (spec.includes("${"))
    return { kind: "open", name: spec, reason: "its name or version comes from a reference" };
  if (ecosystem === "npm") return parseNpm(spec);
  return ecosystem === "pypi" ? parsePypi(spec) : parseOci(spec);
}

function parseNpm(spec: string): PackageSpec {
  if (/^(?:\.{0,2}[/\\]|~\/|\.{1,2}$|file:|[A-Za-z]:\\)/.test(spec)) return { kind: "local" };
  const split = spec.indexOf("@", 1);
  const name = split < 0 ? spec : spec.slice(0, split);
  const version = split < 0 ? null : spec.slice(split + 1);
  if (!NPM_NAME.test(name) || (version !== null && /[:/]/.test(version))) {
    return { kind: "open", name: spec, reason: "it is fetched from an address and not by name and version" };
  }
  if (version === null || version === "") return { kind: "open", name, reason: "it names no version" };
  if (!SEMVER.test(version)) return { kind: "open", name, reason: `\`${version}\` is no exact version` };
  return { kind: "exact", name, version };
}

function parsePypi(spec: string): PackageSpec {
  if (/^(?:\.{0,2}[/\\]|~\/|\.{1,2}$|file:|[A-Za-z]:\\)/.test(spec)) return { kind: "local" };
  if (/^(?:[^@\s]+ ?@ ?)?git\+/.test(spec)) {
    const commit = GIT_COMMIT.exec(spec);
    if (commit === null) return { kind: "open", name: spec, reason: "it names no full commit" };
    return { kind: "exact", name: spec.slice(0, commit.index), version: spec.slice(commit.index + 1) };
  }
  const [, name, separator, version] = /^([^=@<>!~\s]+?)\s*(==|@)\s*(\S+)$/.exec(spec) ?? [];
  if (name !== undefined && version !== undefined && PYPI_NAME.test(name)) {
    if (PYPI_VERSION.test(version)) return { kind: "exact", name, version };
    const isAddress = separator === "@" && version.includes(":");
    const reason = isAddress ? "it is fetched from an address" : `\`${version}\` is no exact version`;
    return { kind: "open", name, reason };
  }
  const reason = PYPI_NAME.test(spec) ? "it names no version" : "it names no exact version";
  return { kind: "open", name: /^[A-Za-z0-9._-]+/.exec(spec)?.[0] ?? spec, reason };
}

function parseOci(spec: string): PackageSpec {
  const digest = OCI_DIGEST.exec(spec);
  if (digest?.[1] !== undefined && digest[2] !== undefined) {
    return { kind: "exact", name: digest[1], version: digest[2] };
  }
  const colon = spec.indexOf(":", spec.lastIndexOf("/") + 1);
  const name = colon < 0 ? spec : spec.slice(0, colon);
  const tag = colon < 0 ? null : spec.slice(colon + 1);
  if (tag === null) return { kind: "open", name, reason: "it names neither a digest nor a version" };
  if (!OCI_VERSION_TAG.test(tag))
    return { kind: "open", name, reason: `the tag \`${tag}\` is no exact version` };
  return { kind: "exact", name, version: tag };
}
