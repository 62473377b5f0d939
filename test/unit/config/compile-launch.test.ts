import { describe, expect, it } from "vitest";
import { compileConfig } from "../../../src/config/compile.ts";
import type { ConfigProblem, ServerConfig } from "../../../src/config/compiled.ts";
import type { ConfigFacts } from "../../../src/config/facts.ts";
import { PortcullisError } from "../../../src/errors.ts";

const facts: ConfigFacts = {
  file: "/repo/portcullis.json",
  baseDir: "/repo",
  homeDir: "/home/me",
  platform: "linux",
  stateDir: "/state",
};

function compileOne(
  entry: object,
  more: Partial<ConfigFacts> = {},
): { server: ServerConfig; warnings: readonly ConfigProblem[] } {
  const config = compileConfig({ mcpServers: { hub: entry } }, { ...facts, ...more });
  const server = config.servers.get("hub");
  if (server === undefined) throw new Error("no server");
  return { server, warnings: config.warnings };
}

function messageOf(entry: object, more: Partial<ConfigFacts> = {}): string {
  try {
    compileOne(entry, more);
  } catch (error) {
    if (error instanceof PortcullisError) return error.message;
    throw error;
  }
  return "";
}

describe("local servers", () => {
  it.each([
    ["node", "linux", "node"],
    ["./node_modules/.bin/server", "linux", "/repo/node_modules/.bin/server"],
    ["../x/y", "linux", "/x/y"],
    ["/usr/bin/x", "linux", "/usr/bin/x"],
    ["~/bin/x", "linux", "/home/me/bin/x"],
    ["${env:TOOL}", "linux", "${env:TOOL}"],
    ["/opt/${env:V}/x", "linux", "/opt/${env:V}/x"],
    [".\\bin\\x.cmd", "win32", "C:\\repo\\bin\\x.cmd"],
    ["npx", "win32", "npx"],
  ] as const)("starts `%s` on %s as `%s`", (command, platform, started) => {
    const more =
      platform === "win32" ? { platform, baseDir: "C:\\repo", homeDir: "C:\\Users\\me" } : { platform };
    const { launch } = compileOne({ command, args: ["a@1.0.0"] }, more).server;
    expect(launch.kind === "stdio" && launch.command.template).toBe(started);
  });

  it("takes the folder of the file as working directory, and arguments as they are", () => {
    const { launch } = compileOne({ command: "x", args: ["./safe", "~/y", ""], cwd: "sub" }).server;
    expect(launch).toMatchObject({
      cwd: "/repo/sub",
      args: [{ template: "./safe" }, { template: "~/y" }, { template: "" }],
    });
    expect(messageOf({ command: "x", cwd: "${env:HOME}" })).toContain("references are not read here");
  });

  it("refuses twins among variables on Windows only", () => {
    const entry = { command: "x", env: { Path: "1", PATH: "2" } };
    expect(messageOf(entry)).toBe("");
    expect(messageOf(entry, { platform: "win32", baseDir: "C:\\repo" })).toContain("the same variable");
  });
});

describe("local or remote", () => {
  it.each([
    [{}, "needs `command` (a local server) or `url`"],
    [{ command: "x", url: "https://y.example" }, "has `command` and `url`"],
    [{ url: "https://y.example", args: ["x"] }, "belongs to a local server"],
    [{ url: "https://y.example", env: {} }, "belongs to a local server"],
    [{ url: "https://y.example", cwd: "x" }, "belongs to a local server"],
    [{ command: "x", headers: {} }, "belongs to a remote server"],
    [{ command: "x", auth: { type: "none" } }, "belongs to a remote server"],
    [{ command: "x", allowPrivateAddresses: true }, "belongs to a remote server"],
    [{ type: "http", command: "x" }, "does not fit `command`"],
    [{ type: "stdio", url: "https://y.example" }, "does not fit `url`"],
    [{ type: "sse", url: "https://y.example" }, "HTTP+SSE is deprecated"],
  ])("refuses %j", (entry, message) => {
    expect(messageOf(entry)).toContain(message);
  });

  it("takes HTTP+SSE by opt-in, with a warning [VER-15, BASE-25]", () => {
    const { server, warnings } = compileOne({ type: "sse", transport: "sse", url: "https://y.example/sse" });
    expect(server.launch.kind).toBe("sse");
    expect(warnings[0]?.message).toContain("deprecated");
  });
});

describe("addresses", () => {
  it.each([
    ["nonsense", "is no URL"],
    ["wss://y.example", "MCP over WebSocket is not supported"],
    ["unix:///tmp/x", "only `https://` is supported"],
    ["https://me:pw@y.example/", "holds a user name or password"],
    ["https://y.example/#x", "holds a fragment"],
  ])("refuses `%s`", (url, message) => {
    expect(messageOf({ url })).toContain(message);
  });

  it("blocks plain http, and lets it through to loopback where private addresses are allowed", () => {
    expect(compileOne({ url: "http://y.example/mcp" }).server.blocked?.fix).toBe("write `https://…`");
    expect(compileOne({ url: "http://y.example/mcp", allowPrivateAddresses: true }).server.blocked?.fix).toBe(
      "write `https://…`",
    );
    expect(compileOne({ url: "http://127.0.0.1:3000/mcp" }).server.blocked?.fix).toContain(
      "allowPrivateAddresses",
    );
    for (const host of ["127.0.0.1:1", "localhost:1", "[::1]:1"]) {
      expect(
        compileOne({ url: `http://${host}/mcp`, allowPrivateAddresses: true }).server.blocked,
      ).toBeNull();
    }
    expect(
      compileOne({ url: "http://127.0.0.1.example.com/", allowPrivateAddresses: true }).server.blocked,
    ).not.toBeNull();
  });

  it.each([
    "Host",
    "content-length",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    "Transfer-Encoding",
    "Accept",
  ])("refuses the header `%s`", (name) => {
    expect(messageOf({ url: "https://y.example", headers: { [name]: "x" } })).toContain(
      "is set by Portcullis itself",
    );
  });

  it("refuses header twins and line breaks", () => {
    expect(messageOf({ url: "https://y.example", headers: { "X-A": "1", "x-a": "2" } })).toContain(
      "stands here twice",
    );
    expect(messageOf({ url: "https://y.example", headers: { "X-A": "1\r\nHost: evil" } })).toContain(
      "a line break",
    );
  });
});

describe("authentication", () => {
  it("needs what its type needs", () => {
    expect(messageOf({ url: "https://y.example", auth: { type: "bearer" } })).toContain(
      "`bearer` needs the token",
    );
    const headers = { authorization: "Bearer ${env:T}" };
    expect(compileOne({ url: "https://y.example", headers, auth: { type: "bearer" } }).server.auth).toEqual({
      type: "bearer",
      scopes: [],
      issuer: null,
      clientId: null,
      clientSecret: null,
      privateKey: null,
      clientMetadataUrl: null,
      redirectUri: null,
      dpop: "auto",
      assertion: null,
      identityProvider: null,
      per: "shared",
    });
  });

  it.each([
    [{ type: "client_credentials", clientId: "x", clientSecret: "${env:S}" }, "needs `issuer`"],
    [
      { type: "client_credentials", issuer: "https://a.example", clientSecret: "${env:S}" },
      "needs `clientId`",
    ],
    [
      { type: "client_credentials", issuer: "https://a.example", clientId: "x" },
      "`clientSecret` or `privateKey`",
    ],
    [{ type: "workload_identity", issuer: "https://a.example" }, "needs `assertion`"],
    [{ type: "enterprise", issuer: "https://a.example", clientId: "x" }, "needs `identityProvider`"],
  ])("names what a machine's credentials lack, the issuer among it: %j [AEXT-06]", (auth, message) => {
    expect(messageOf({ url: "https://y.example", auth })).toContain(message);
  });

  it.each([
    "http://a.example/m.json",
    "https://a.example",
    "https://a.example/",
    "https://a.example/m#x",
    "m.json",
  ])("takes no client id metadata document at %s: https with a path [AUTH-25]", (clientMetadataUrl) => {
    const auth = { type: "oauth", clientMetadataUrl };
    expect(messageOf({ url: "https://y.example", auth })).toContain("clientMetadataUrl");
  });

  it("keeps the address of a client id metadata document as it is written [AUTH-25, AUTH-26]", () => {
    const auth = { type: "oauth", clientMetadataUrl: "HTTPS://A.example:443/%7Em.json" };
    expect(compileOne({ url: "https://y.example", auth }).server.auth?.clientMetadataUrl).toBe(
      auth.clientMetadataUrl,
    );
  });

  it("takes no token of one's own beside tokens that are got by OAuth", () => {
    const headers = { Authorization: "Bearer ${env:T}" };
    expect(messageOf({ url: "https://y.example", headers, auth: { type: "oauth" } })).toContain(
      "remove `Authorization`",
    );
  });
});

describe("packages", () => {
  it("without an exact version block that server alone, with the fix", () => {
    const config = compileConfig(
      {
        mcpServers: {
          open: { command: "npx", args: ["-y", "some-server"] },
          fine: { command: "npx", args: ["-y", "x@1.0.0"] },
        },
      },
      facts,
    );
    expect(config.servers.get("open")?.blocked).toEqual({
      reason: "`npx` would fetch `some-server`, and it names no version",
      fix: "run `portcullis lock open`",
    });
    expect(config.servers.get("fine")?.blocked).toBeNull();
    expect(config.servers.get("fine")?.package).toEqual({
      ecosystem: "npm",
      runner: "npx",
      name: "x",
      version: "1.0.0",
      argsFrom: 2,
    });
  });

  it("warn where an image is named by a tag that can be moved", () => {
    const digest = `sha256:${"a".repeat(64)}`;
    expect(
      compileOne({ command: "docker", args: ["run", "-i", "ghcr.io/a/b:1.2.3"] }).warnings[0]?.message,
    ).toContain("can be moved");
    expect(compileOne({ command: "docker", args: ["run", "-i", `ghcr.io/a/b@${digest}`] }).warnings).toEqual(
      [],
    );
  });
});

describe("literals that look like secrets", () => {
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ";

  it.each([
    [
      { command: "x", env: { GITHUB_TOKEN: token } },
      "mcpServers.hub.env.GITHUB_TOKEN",
      "${env:GITHUB_TOKEN}",
    ],
    [{ command: "x", args: ["--token", token] }, "mcpServers.hub.args[1]", "${env:HUB_TOKEN}"],
    [{ command: "x", args: [`--api-key=${token}`] }, "mcpServers.hub.args[0]", "${env:HUB_API_KEY}"],
    [
      { url: "https://y.example", headers: { Authorization: `Bearer ${token}` } },
      "mcpServers.hub.headers.Authorization",
      "${env:HUB_TOKEN}",
    ],
    [{ url: `https://y.example/mcp?key=${token}` }, "mcpServers.hub.url", "${env:HUB_KEY}"],
    [
      { command: "x", env: { DATABASE_URL: "postgres://me:hunter2@db.example/x" } },
      "mcpServers.hub.env.DATABASE_URL",
      "${env:DATABASE_URL}",
    ],
  ])("%j: are warned about with the fix, and masked", (entry, path, fix) => {
    const { server, warnings } = compileOne(entry);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.path).toBe(path);
    expect(warnings[0]?.message).toContain(fix);
    const shown = JSON.stringify([server, warnings]);
    expect(shown).not.toContain(token);
    expect(shown).not.toContain("hunter2");
  });

  it("are told from references and plain values", () => {
    const entry = {
      command: "x",
      env: { TOKEN: "${env:TOKEN}", MODE: "production", KEY_FILE: "/run/secrets/key1" },
    };
    expect(compileOne(entry).warnings).toEqual([]);
  });

  it("warns about variables of a shell, which nobody expands", () => {
    expect(
      compileOne({ command: "x", env: { A: "$TOKEN", B: "%TOKEN%" } }).warnings.map((w) => w.message),
    ).toEqual([
      "is used as it stands: write `${env:TOKEN}` for the variable",
      "is used as it stands: write `${env:TOKEN}` for the variable",
    ]);
  });
});
