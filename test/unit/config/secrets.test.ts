import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileConfig } from "../../../src/config/compile.ts";
import type { LateText, ServerConfig } from "../../../src/config/compiled.ts";
import { resolveLaunch } from "../../../src/config/resolve-launch.ts";
import {
  createLateResolver,
  resolveLate,
  type LateResolverOptions,
  type ResolvedText,
} from "../../../src/config/secrets.ts";
import { PortcullisError } from "../../../src/errors.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portcullis-secrets-"));
  await writeFile(join(folder, "token"), "from-a-file\n");
  await writeFile(join(folder, "crlf"), "line one\r\nline two\r\n");
  await writeFile(join(folder, "large"), "x".repeat(70_000));
  await mkdir(join(folder, "dir"));
});
afterAll(() => rm(folder, { recursive: true }));

const env = {
  TOKEN: "s3cr3t-value",
  OTHER: "${env:TOKEN}",
  EMPTY: "",
  HOME: "/home/me",
  ON: "1",
  DOLLAR: "a$b",
};

function options(more: Partial<LateResolverOptions> = {}): LateResolverOptions {
  return { server: "hub", env, baseDir: folder, homeDir: "/home/me", platform: "linux", ...more };
}

function resolve(template: string, more: Partial<LateResolverOptions> = {}): Promise<ResolvedText> {
  return resolveLate({ template }, createLateResolver(options(more)), "mcpServers.hub.env.X");
}

async function errorOf(promise: Promise<unknown>): Promise<PortcullisError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PortcullisError)) throw new Error("no PortcullisError", { cause: error });
  return error;
}

describe("resolveLate", () => {
  it.each([
    ["plain", "plain", []],
    ["${env:TOKEN}", "s3cr3t-value", ["s3cr3t-value"]],
    ["${TOKEN}", "s3cr3t-value", ["s3cr3t-value"]],
    ["Bearer ${env:TOKEN}!", "Bearer s3cr3t-value!", ["s3cr3t-value"]],
    ["${TOKEN}${TOKEN}", "s3cr3t-values3cr3t-value", ["s3cr3t-value"]],
    ["${UNSET:-default value}", "default value", []],
    ["${UNSET:-}", "", []],
    ["${EMPTY:-d}", "d", []],
    ["${TOKEN:-d}", "s3cr3t-value", ["s3cr3t-value"]],
    ["${env:UNSET:-d}", "d", []],
    ["$${env:TOKEN}", "${env:TOKEN}", []],
    ["$TOKEN %TOKEN% $$", "$TOKEN %TOKEN% $$", []],
    ["${DOLLAR}", "a$b", []],
    ["${HOME}/x", "/home/me/x", []],
    ["${ON}", "1", []],
    ["${file:token}", "from-a-file", ["from-a-file"]],
    ["${file:./crlf}", "line one\r\nline two", ["line one\r\nline two"]],
  ])("%s", async (template, value, secrets) => {
    expect(await resolve(template)).toEqual({ value, secrets });
  });

  it("is one pass: what a value holds is never read for references", async () => {
    expect((await resolve("${OTHER}")).value).toBe("${env:TOKEN}");
    const given = await resolve("${env:X}", { resolveSecret: () => "${file:token}${env:TOKEN}" });
    expect(given.value).toBe("${file:token}${env:TOKEN}");
  });

  it("reads own variables only", async () => {
    expect((await errorOf(resolve("${constructor}"))).code).toBe("secret_unresolved");
    expect((await errorOf(resolve("${__proto__}"))).code).toBe("secret_unresolved");
  });

  it("takes names of variables on Windows in any case", async () => {
    expect((await resolve("${env:token}", { platform: "win32" })).value).toBe("s3cr3t-value");
    expect((await errorOf(resolve("${env:token}"))).code).toBe("secret_unresolved");
  });

  it.each([
    [
      "${env:UNSET}",
      "mcpServers.hub.env.X: `${env:UNSET}` is not set: set the variable where Portcullis starts",
    ],
    [
      "Bearer ${UNSET}",
      "mcpServers.hub.env.X: `${env:UNSET}` is not set: set the variable where Portcullis starts",
    ],
    ["${EMPTY}", "mcpServers.hub.env.X: `${env:EMPTY}` is empty"],
    ["${file:absent}", "mcpServers.hub.env.X: `${file:absent}` does not exist"],
    ["${file:dir}", "mcpServers.hub.env.X: `${file:dir}` is a folder and no file"],
    ["${file:large}", "mcpServers.hub.env.X: `${file:large}` is larger than 65536 bytes"],
    ["${keychain:x}", "mcpServers.hub.env.X: `${keychain:x}` is not in the keychain"],
  ])("%s: names the reference and the place", async (template, message) => {
    const error = await errorOf(resolve(template));
    expect(error.code).toBe("secret_unresolved");
    expect(error.message).toBe(message);
    expect(JSON.stringify([error.message, error.data])).not.toContain("s3cr3t");
  });

  it("asks the callback first, for this server, and goes on where it has no answer", async () => {
    const asked: string[] = [];
    const resolveSecret: LateResolverOptions["resolveSecret"] = ({ reference, server }) => {
      asked.push(`${server ?? "-"} ${reference.scheme}:${reference.name}`);
      return reference.name === "TOKEN" ? "from the vault" : undefined;
    };
    expect((await resolve("${TOKEN} ${file:token}", { resolveSecret })).value).toBe(
      "from the vault from-a-file",
    );
    expect(asked).toEqual(["hub env:TOKEN", "hub file:token"]);
  });

  it("keeps what a failing callback said out of its own message", async () => {
    const error = await errorOf(
      resolve("${TOKEN}", { resolveSecret: () => Promise.reject(new Error("bad s3cr3t-value")) }),
    );
    expect(error.code).toBe("secret_unresolved");
    expect(JSON.stringify([error.message, error.data])).not.toContain("s3cr3t");
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("ends with its signal while the callback still thinks", async () => {
    const controller = new AbortController();
    const late: LateText = { template: "${TOKEN}" };
    const resolver = createLateResolver(
      options({ resolveSecret: () => new Promise<string>(() => undefined) }),
    );
    const waiting = resolveLate(late, resolver, "x", controller.signal);
    controller.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  it("asks the keychain where there is one", async () => {
    const readKeychain = (name: string): Promise<string> => Promise.resolve(`kept ${name}`);
    expect(await resolve("${keychain:github}", { readKeychain })).toEqual({
      value: "kept github",
      secrets: ["kept github"],
    });
  });
});

describe("resolveLaunch", () => {
  const compileOne = (entry: object): ServerConfig => {
    const facts = {
      file: null,
      baseDir: folder,
      homeDir: "/home/me",
      platform: "linux" as const,
      stateDir: "/s",
    };
    const server = compileConfig({ mcpServers: { hub: entry } }, facts).servers.get("hub");
    if (server === undefined) throw new Error("no server");
    return server;
  };
  const launch = (entry: object, more: Partial<LateResolverOptions> = {}): ReturnType<typeof resolveLaunch> =>
    resolveLaunch(compileOne(entry), createLateResolver(options(more)));

  it("gives everything that a local server needs, and all secrets in it", async () => {
    const resolved = await launch({
      command: "node",
      args: ["--token", "${TOKEN}", "./x"],
      env: { A: "${file:token}", B: "plain", C: "${TOKEN}" },
    });
    expect(resolved).toEqual({
      kind: "stdio",
      command: "node",
      args: ["--token", "s3cr3t-value", "./x"],
      env: { A: "from-a-file", B: "plain", C: "s3cr3t-value" },
      cwd: folder,
      secrets: ["s3cr3t-value", "from-a-file"],
    });
  });

  it("reveals a masked literal to the server alone, and names it as a secret", async () => {
    const token = "ghp_0123456789abcdefghijABCDEFGHIJ";
    const resolved = await launch({
      url: "https://hub.example/mcp",
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(resolved).toMatchObject({ headers: { Authorization: `Bearer ${token}` } });
    expect(resolved.secrets).toEqual([`Bearer ${token}`, token]);
  });

  it("judges an address once its references are known", async () => {
    const url = async (value: string, more: object = {}): Promise<string> => {
      const resolving = launch({ url: "${env:URL}", ...more }, { env: { URL: value } });
      return resolving.then(
        (resolved) => (resolved.kind === "stdio" ? "" : resolved.url.href),
        (error: PortcullisError) => error.message,
      );
    };
    expect(await url("https://hub.example/mcp")).toBe("https://hub.example/mcp");
    expect(await url("nonsense")).toContain("is no URL");
    expect(await url("file:///etc/passwd")).toContain("is no http address");
    expect(await url("https://me:pw@hub.example")).toContain("holds a user name");
    expect(await url("http://hub.example")).toContain("is plain http");
    expect(await url("http://127.0.0.1:1")).toContain("is on this machine");
    expect(await url("http://127.0.0.1:1", { allowPrivateAddresses: true })).toBe("http://127.0.0.1:1/");
    expect(await url("nonsense s3cr3t")).not.toContain("s3cr3t");
  });

  it("refuses a line break in a header and a NUL anywhere, without showing the value", async () => {
    const header = await errorOf(
      launch(
        { url: "https://hub.example", headers: { "X-A": "${TOKEN}" } },
        { env: { TOKEN: "a\r\nX: s3cr3t" } },
      ),
    );
    expect(header.code).toBe("config_invalid");
    expect(header.message).toContain("mcpServers.hub.headers.X-A");
    expect(header.message).not.toContain("s3cr3t");
    expect(
      (await errorOf(launch({ command: "x", env: { A: "${TOKEN}" } }, { env: { TOKEN: "a\0b" } }))).code,
    ).toBe("config_invalid");
  });
});
