/** References as RFC 3986 (section 5.2) resolves them: names only, no scheme is special and nothing is ever dereferenced. */

interface Reference {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

/** RFC 3986, appendix B. Every text matches it, so what is no URI at all is a relative path. */
const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;

function parse(text: string): Reference {
  const parts = PARTS.exec(text);
  if (parts === null)
    return { scheme: undefined, authority: undefined, path: text, query: undefined, fragment: undefined };
  return { scheme: parts[1], authority: parts[2], path: parts[3] ?? "", query: parts[4], fragment: parts[5] };
}

function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === ".." || segment === ".") {
      if (segment === ".." && kept.length > 1) kept.pop();
      if (isLast) kept.push("");
    } else {
      kept.push(segment);
    }
  }
  return kept.join("/");
}

function mergePaths(base: Reference, path: string): string {
  if (base.authority !== undefined && base.path === "") return `/${path}`;
  return base.path.slice(0, base.path.lastIndexOf("/") + 1) + path;
}

function print(reference: Omit<Reference, "fragment">): string {
  const scheme = reference.scheme === undefined ? "" : `${reference.scheme}:`;
  const authority = reference.authority === undefined ? "" : `//${reference.authority}`;
  const query = reference.query === undefined ? "" : `?${reference.query}`;
  return `${scheme}${authority}${reference.path}${query}`;
}

/** A reference resolved against a base: the resource that it names, and the fragment (percent-encoding undone) in it. */
export interface ResolvedUri {
  readonly resource: string;
  readonly fragment: string;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Resolves `text` against `base`, which holds no fragment; `""` is the base of a schema that has no name. */
export function resolveUri(base: string, text: string): ResolvedUri {
  const reference = parse(text);
  const fragment = decode(reference.fragment ?? "");
  if (reference.scheme !== undefined) {
    return { resource: print({ ...reference, path: removeDotSegments(reference.path) }), fragment };
  }
  const context = parse(base);
  if (reference.authority !== undefined)
    return { resource: print({ ...reference, scheme: context.scheme }), fragment };
  if (reference.path === "") {
    return { resource: print({ ...context, query: reference.query ?? context.query }), fragment };
  }
  const path = reference.path.startsWith("/") ? reference.path : mergePaths(context, reference.path);
  return {
    resource: print({ ...context, path: removeDotSegments(path), query: reference.query }),
    fragment,
  };
}

/** The tokens of a JSON pointer (RFC 6901); `undefined` where it is none. */
export function pointerTokens(pointer: string): readonly string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** One step of a JSON pointer, escaped. */
export function pointerStep(name: string | number): string {
  return typeof name === "number" ? `/${name}` : `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
