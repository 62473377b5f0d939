/** A registry of npm on loopback with packages made here, so that `npm` itself can be run against it. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "../../src/base/json.ts";
import { startLocalServer, type LocalServer } from "./local-http.ts";

export interface NpmRegistry {
  /** `http://127.0.0.1:PORT/`. */
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  /** Adds a version, or puts other bytes in the place of one. */
  publish(
    manifest: JsonObject & { name: string; version: string },
    files: Readonly<Record<string, string>>,
  ): void;
  close(): Promise<void>;
}

interface Published {
  readonly manifest: JsonObject & { name: string; version: string };
  readonly archive: Buffer;
}

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Map<string, Published>>();
  const asked: string[] = [];
  const server: LocalServer = await startLocalServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    asked.push(path);
    const [, name = "", version = ""] = /^(.+)\/-\/archive-(.+)\.tgz$/.exec(path) ?? [];
    const archive = packages.get(name)?.get(version)?.archive;
    const versions = packages.get(path);
    if (archive !== undefined) response.end(archive);
    else if (versions !== undefined) response.end(JSON.stringify(describe(path, versions, url)));
    else response.writeHead(404).end(JSON.stringify({ error: "Not found" }));
  });
  const url = new URL("/", server.url).href;
  return {
    url,
    asked,
    publish(manifest, files) {
      const all = { "package.json": JSON.stringify(manifest), ...files };
      const versions = packages.get(manifest.name) ?? new Map<string, Published>();
      packages.set(manifest.name, versions.set(manifest.version, { manifest, archive: pack(all) }));
    },
    close: server.close,
  };
}

function describe(name: string, versions: ReadonlyMap<string, Published>, url: string): JsonObject {
  const described: JsonObject = {};
  for (const [version, { manifest, archive }] of versions) {
    const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    const tarball = `${url}${name}/-/archive-${version}.tgz`;
    const shasum = createHash("sha1").update(archive).digest("hex");
    described[version] = { ...manifest, dist: { integrity, tarball, shasum } };
  }
  return { name, "dist-tags": { latest: [...versions.keys()].at(-1) ?? "" }, versions: described };
}

const BLOCK = 512;

/** A `.tgz` as npm makes them: every file below `package/` (POSIX ustar). */
function pack(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const body = Buffer.from(text);
    const header = Buffer.alloc(BLOCK);
    header.write(`package/${name}`, 0);
    header.write("0000755\0", 100);
    header.write("0000000\0", 108);
    header.write("0000000\0", 116);
    header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("        ", 148);
    header.write("0", 156);
    header.write("ustar\0" + "00", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}
