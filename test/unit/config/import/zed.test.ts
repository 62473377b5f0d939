import { expect, it } from "vitest";
import { zed } from "../../../../src/config/import/zed.ts";

const text = `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "mine": { "enabled": true, "source": "custom", "command": "uv", "args": ["run", "main.py"], "env": {} },
    "older": { "command": { "path": "node", "args": ["x.js"], "env": { "API_TOKEN": "f81d4fae7dec11d0a76500a0c91e6bf6" } }, "settings": {} },
    "hub": { "url": "https://hub.example/mcp", "headers": { "Authorization": "Bearer <token>" } },
    "mcp-server-postgres": { "source": "extension", "enabled": true, "settings": { "database_url": "postgresql://localhost" } },
  },
}`;

it("takes over custom servers in both forms, not those of extensions", () => {
  const { servers, problems } = zed.parse(text);
  expect(servers).toEqual({
    mine: { command: "uv", args: ["run", "main.py"], env: {} },
    older: { command: "node", args: ["x.js"], env: { API_TOKEN: "${env:API_TOKEN}" } },
    hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer <token>" } },
  });
  expect(problems.map((problem) => problem.server)).toEqual([
    "older",
    "older",
    "mcp-server-postgres",
    "mcp-server-postgres",
  ]);
});

it("is found in the project and at home", () => {
  const facts = { cwd: "/w", homeDir: "/h", env: {}, platform: "darwin" as const };
  expect(zed.locations(facts)).toEqual(["/w/.zed/settings.json", "/h/.config/zed/settings.json"]);
});
