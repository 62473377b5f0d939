/** `login`, `call` and `logout` as processes: what a person sees, what a shell gets, and what lies about afterwards. */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startAuthServer, type AuthServer } from "../support/auth-server.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
let as: AuthServer;
beforeEach(async () => {
  bench = createWorkbench();
  as = await startAuthServer();
  bench.writeConfig({ mcpServers: { hub: hub() } });
});

const hub = () => ({
  url: as.url.href,
  source: "own",
  allowPrivateAddresses: true,
  auth: { type: "oauth" },
  tools: { echo: "L0" },
});
afterEach(async () => {
  await as.close();
  bench.remove();
});

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a login, and hands the address that it shows to `browser`. */
async function logIn(
  words: readonly string[],
  browser: (url: string, child: ChildProcess) => Promise<void>,
): Promise<Ended> {
  const child = bench.start(["login", "hub", "--no-browser", ...words]);
  let stdout = "";
  let stderr = "";
  let wasShown = false;
  let following: Promise<void> = Promise.resolve();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    const url = /http:\/\/\S+\/authorize\?\S+/.exec(stderr)?.[0];
    if (wasShown || url === undefined || !stderr.includes(`${url}\n`)) return;
    wasShown = true;
    following = browser(url, child);
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  await following;
  return { exitCode, stdout, stderr };
}

const follow = async (url: string): Promise<void> => {
  const response = await fetch(url, { headers: { connection: "close" } });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("Portcullis has received the answer");
};

const call = () => bench.run(["call", "hub", "echo", '{"text":"hi"}', "--json"]);

function allFiles(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile());
}

describe("login", () => {
  it(
    "comes before the first call, opens the way for it, and ends with a logout [AUTH-01, AUTH-57, AUTH-60]",
    { timeout: 60_000 },
    async () => {
      const before = await call();
      expect(before.exitCode).toBe(6);
      expect(before.json).toMatchObject({ outcome: "auth_required", effect: "none" });
      expect(before.stderr + before.stdout).toContain("portcullis login hub");

      const login = await logIn(["--yes", "--json"], follow);
      expect(login.exitCode).toBe(0);
      expect(JSON.parse(login.stdout)).toMatchObject({
        server: "hub",
        issuer: as.origin,
        scopes: ["read"],
        canRefresh: true,
      });
      // Where it goes and what for is shown before the address.
      expect(login.stderr.indexOf(`at      ${as.origin}`)).toBeGreaterThanOrEqual(0);
      expect(login.stderr.indexOf("scopes  read")).toBeLessThan(login.stderr.indexOf("/authorize?"));

      const after = await call();
      expect(after.exitCode).toBe(0);
      expect(after.json).toMatchObject({ outcome: "completed" });

      const logout = await bench.run(["logout", "hub", "--json"]);
      expect(logout.json).toEqual({ server: "hub", wasLoggedIn: true, revocation: "revoked" });
      expect((await call()).exitCode).toBe(6);

      const everything = [login, after, logout, before]
        .flatMap(({ stdout, stderr }) => [stdout, stderr])
        .join("\n");
      expect(as.issued.length).toBeGreaterThanOrEqual(3);
      for (const secret of as.issued) expect(everything).not.toContain(secret);
      for (const file of allFiles(bench.dir)) {
        const bytes = readFileSync(file);
        for (const secret of as.issued) expect(bytes.includes(secret), `${file} holds a secret`).toBe(false);
      }
    },
  );

  it("takes what a person pastes on a device whose browser is elsewhere", async () => {
    const login = await logIn(["--yes"], async (url, child) => {
      const response = await fetch(url, { redirect: "manual", headers: { connection: "close" } });
      child.stdin?.write("something else\n");
      child.stdin?.write(`${response.headers.get("location") ?? ""}\n`);
    });
    expect(login.exitCode).toBe(0);
    expect(login.stderr).toContain("That is not the answer to this login.");
    expect(login.stdout).toContain("logged in to hub");
    expect((await call()).exitCode).toBe(0);
  });

  it("is made as the client id metadata document says that the docs show [AUTH-23, AUTH-26]", async () => {
    const page = readFileSync(new URL("../../docs/security/authorization.md", import.meta.url), "utf8");
    const document = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "") as {
      readonly client_id: string;
      readonly redirect_uris: readonly string[];
      readonly grant_types: readonly string[];
    };
    as.options.metadata = { client_id_metadata_document_supported: true };
    bench.writeConfig({
      mcpServers: { hub: { ...hub(), auth: { type: "oauth", clientMetadataUrl: document.client_id } } },
    });
    expect((await logIn(["--yes"], follow)).exitCode).toBe(0);
    as.expireAll();
    expect((await call()).exitCode).toBe(0);

    expect(as.to("/register")).toEqual([]);
    const [asked] = as.to("/authorize").map(({ form }) => form);
    expect(asked).toMatchObject({ client_id: document.client_id, response_type: "code" });
    // RFC 8252 section 7.3: an authorization server leaves the port of a loopback redirect out of the comparison.
    expect(document.redirect_uris).toEqual([asked?.["redirect_uri"]?.replace(/:\d+\//, "/")]);
    const redeemed = as.to("/token");
    expect(redeemed.map(({ form }) => form["grant_type"])).toEqual(document.grant_types);
    for (const { form, headers } of redeemed) {
      expect(form["client_id"]).toBe(document.client_id);
      // `token_endpoint_auth_method` is `none`.
      expect([form["client_secret"], form["client_assertion"], headers.authorization]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
    expect(document).toMatchObject({ client_name: "Portcullis", token_endpoint_auth_method: "none" });
  });

  it("does nothing without a person who agrees", async () => {
    const login = await bench.run(["login", "hub", "--no-browser"]);
    expect(login.exitCode).toBe(6);
    expect(login.stderr).toContain("--yes");
    expect(as.to("/register")).toEqual([]);
    expect(as.to("/authorize")).toEqual([]);
  });

  it.each([
    ["while the browser is away", ["--no-browser"]],
    ["while a browser is opened that never answers", []],
  ])("ends at once with Ctrl-C, and nobody listens any more: %s", async (_name, words) => {
    const opener = join(bench.dir, "xdg-open");
    writeFileSync(opener, `#!/bin/sh\necho $$ > ${bench.dir}/browser\nexec sleep 60\n`, { mode: 0o755 });
    const path = `${bench.dir}:${process.env["PATH"] ?? ""}`;
    const child = bench.start(["login", "hub", "--yes", "--json", ...words], { PATH: path });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const redirect = await new Promise<string>((resolve) => {
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
        const shown = /http:\/\/\S+\/authorize\?\S+\n/.exec(stderr)?.[0];
        if (shown !== undefined) resolve(new URL(shown.trim()).searchParams.get("redirect_uri") ?? "");
      });
    });
    expect((await fetch(redirect, { headers: { connection: "close" } })).status).toBe(400);
    const startedMs = performance.now();
    child.kill("SIGINT");
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(130);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "cancelled" } });
    await expect(fetch(redirect)).rejects.toThrow();
    // The browser itself stays when we go.
    if (words.length === 0) process.kill(Number(readFileSync(join(bench.dir, "browser"), "utf8")));
  });

  it("is not for local servers, whose credentials come by their environment, nor for servers that do not exist [STDIO-11]", async () => {
    bench.writeConfig({ mcpServers: { hub: { command: "node" } } });
    expect((await bench.run(["login", "hub"])).exitCode).toBe(2);
    expect((await bench.run(["login", "nowhere"])).exitCode).toBe(2);
  });
});

describe("ten processes with an expired token", () => {
  it("renew it once, and all succeed", { timeout: 120_000 }, async () => {
    await logIn(["--yes"], follow);
    as.expireAll();
    const runs = await Promise.all(Array.from({ length: 10 }, call));
    expect(runs.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 10 }, () => 0));
    const grants = as.to("/token").map(({ form }) => form["grant_type"]);
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
  });
});
