/**
 * The console's built files. What may be served is listed first and looked up by its whole path, so that no path of a request
 * ever reaches the file system. Every other page is the console itself (its own routes); without a build a page says how to
 * make one.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

interface StaticFile {
  readonly status: 200 | 404 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface StaticFiles {
  /** @param path of the URL, as it came, without query. */
  find(path: string): StaticFile;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
};
const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Where the console is: beside `gateway/` in the package, in its workspace in a clone. */
export function findConsoleDir(): string {
  const [packaged, cloned] = ["../console", "../../console/dist"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return packaged !== undefined && existsSync(join(packaged, "index.html")) ? packaged : (cloned ?? "");
}

/** @param dir of the built console; it may be missing, and may be built while the gateway runs. */
export function openStatic(dir: string): StaticFiles {
  let builtAtMs = -1;
  let files: ReadonlyMap<string, string> = new Map();

  const listing = (): ReadonlyMap<string, string> => {
    const mtimeMs = statSync(join(dir, "index.html"), { throwIfNoEntry: false })?.mtimeMs ?? -1;
    if (mtimeMs !== builtAtMs) {
      builtAtMs = mtimeMs;
      files = mtimeMs < 0 ? new Map() : listFiles(dir);
    }
    return files;
  };

  return {
    find(path) {
      // Clients that were refused look for metadata there, and would read the page as such.
      if (path.startsWith("/.well-known/")) return NOT_FOUND;
      const known = listing();
      const index = known.get("/index.html");
      if (index === undefined) return NOT_BUILT;
      const file = known.get(path);
      if (file !== undefined) return read(file, path.startsWith("/assets/"));
      // A missing asset is missing: answering it with the page would hide the mistake.
      if (extname(path) !== "" && path !== "/index.html") return NOT_FOUND;
      return read(index, false);
    },
  };
}

function listFiles(dir: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }).slice(0, MAX_FILES)) {
    if (!entry.isFile() || TYPES[extname(entry.name)] === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    if (statSync(file).size > MAX_FILE_BYTES) continue;
    files.set(`/${relative(dir, file).split(sep).map(encodeURIComponent).join("/")}`, file);
  }
  return files;
}

/** @param isHashed its name changes with its content. */
function read(file: string, isHashed: boolean): StaticFile {
  let body: Uint8Array;
  try {
    body = readFileSync(file);
  } catch {
    // Built anew this very moment.
    return NOT_FOUND;
  }
  return {
    status: 200,
    headers: {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    },
    body,
  };
}

const NOT_FOUND = page(404, "<h1>Not found</h1>");
const NOT_BUILT = page(
  503,
  "<h1>The console is not built</h1><p>Run <code>npm run build</code> in the clone, then reload this page. " +
    "The gateway itself works: see <code>portcullis --help</code>.</p>",
);

function page(status: 404 | 503, body: string): StaticFile {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Portcullis</title><body>${body}</body></html>\n`;
  return {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
    body: Buffer.from(html, "utf8"),
  };
}
