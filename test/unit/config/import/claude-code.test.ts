import { expect, it } from "vitest";
import { claudeCode } from "../../../../src/config/import/claude-code.ts";

const project = `{
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "\${API_BASE_URL:-https://api.example.com}/mcp",
      "headers": { "Authorization": "Bearer \${API_KEY}" },
      "timeout": 60000
    },
    "old": { "type": "sse", "url": "https://old.example.com/sse" },
    "dynamic": { "type": "http", "url": "https://d.example.com/mcp", "headersHelper": "/opt/bin/headers.sh" },
    "socket": { "type": "ws", "url": "wss://ws.example.com/mcp" },
    "local": { "type": "stdio", "command": "\${CLAUDE_PROJECT_DIR:-.}/server.py", "args": [], "env": { "CACHE": "/tmp" } }
  }
}`;

it("takes over a project's `.mcp.json` with its variables", () => {
  const { servers, problems } = claudeCode.parse(project);
  expect(servers).toEqual({
    api: {
      url: "${API_BASE_URL:-https://api.example.com}/mcp",
      headers: { Authorization: "Bearer ${env:API_KEY}" },
      limits: { timeout: "1m" },
    },
    old: { url: "https://old.example.com/sse", transport: "sse" },
    dynamic: { url: "https://d.example.com/mcp" },
    local: { command: "${CLAUDE_PROJECT_DIR:-.}/server.py", args: [], env: { CACHE: "/tmp" } },
  });
  expect(problems.map((problem) => problem.server)).toEqual(["old", "dynamic", "socket", "socket"]);
  expect(problems.at(-1)?.message).toBe(
    "was left out: socket.url: `wss:` cannot be used: MCP over WebSocket is not supported",
  );
});

it("takes over the user's servers and those of the project it is asked for", () => {
  const user = JSON.stringify({
    numStartups: 7,
    mcpServers: { mine: { command: "a" } },
    projects: {
      "/srv/one": { history: [{ display: "x" }], mcpServers: { here: { command: "b" } } },
      "/srv/two": { mcpServers: { there: { command: "c" } } },
    },
  });
  expect(Object.keys(claudeCode.parse(user).servers)).toEqual(["mine"]);
  expect(Object.keys(claudeCode.parse(user, "/srv/one").servers)).toEqual(["mine", "here"]);
});

it("leaves out what this version refuses, and says so", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: {
        type: "http",
        url: "https://a.example",
        oauth: { clientId: "c", callbackPort: 8080, scopes: "read write" },
      },
    },
  });
  const { servers, problems } = claudeCode.parse(text);
  const auth = servers["a"]?.["auth"];
  // `oauth` comes over as soon as it is implemented; until then it is named.
  if (auth === undefined)
    expect(problems.map((p) => p.message)).toContain(
      "`auth` was left out: this version does not implement it yet",
    );
  else expect(auth).toEqual({ type: "oauth", clientId: "c", scopes: ["read", "write"] });
});

it("says so where there is nothing to take over", () => {
  for (const text of ["", "[]", "{", '{"other": 1}', '{"mcpServers": []}']) {
    expect(claudeCode.parse(text)).toMatchObject({ servers: {}, problems: [{ server: null }] });
  }
});

it("is found in the project and at home", () => {
  expect(claudeCode.locations({ cwd: "/w", homeDir: "/h", env: {}, platform: "linux" })).toEqual([
    "/w/.mcp.json",
    "/h/.claude.json",
  ]);
});
