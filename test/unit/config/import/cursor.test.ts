import { expect, it } from "vitest";
import { cursor } from "../../../../src/config/import/cursor.ts";

it("takes over addresses without a type, variables, and literal secrets as variables", () => {
  const text = JSON.stringify({
    mcpServers: {
      remote: {
        url: "https://r.example/mcp",
        headers: { "X-Api-Key": "sk-abcdefghijklmnopqrstuvwx", "X-Team": "${env:TEAM}" },
      },
      search: { url: "https://s.example/mcp?apiKey=f81d4fae7dec11d0a76500a0c91e6bf6&x=1" },
      local: {
        command: "python",
        args: ["server.py", "--api-key", "f81d4fae7dec11d0a76500a0c91e6bf6"],
        envFile: ".env",
      },
    },
  });
  const { servers, problems } = cursor.parse(text);
  expect(servers).toEqual({
    remote: {
      url: "https://r.example/mcp",
      headers: { "X-Api-Key": "${env:REMOTE_X_API_KEY}", "X-Team": "${env:TEAM}" },
    },
    search: { url: "https://s.example/mcp?apiKey=${env:SEARCH_URL}&x=1" },
    local: { command: "python", args: ["server.py", "--api-key", "${env:LOCAL_API_KEY}"] },
  });
  expect(problems.map((problem) => problem.server)).toEqual(["remote", "search", "local", "local"]);
  expect(JSON.stringify([servers, problems])).not.toMatch(/sk-abc|f81d4fae/);
});

it("gives two secrets of one name two variables, and one secret one", () => {
  const entry = (key: string): object => ({ command: "x", env: { API_KEY: key } });
  const [one, other] = ["sk-aaaaaaaaaaaaaaaaaaaaaa1", "sk-bbbbbbbbbbbbbbbbbbbbbb2"];
  const { servers } = cursor.parse(
    JSON.stringify({ mcpServers: { a: entry(one), b: entry(other), c: entry(one) } }),
  );
  expect(["a", "b", "c"].map((name) => servers[name]?.["env"])).toEqual([
    { API_KEY: "${env:API_KEY}" },
    { API_KEY: "${env:B_API_KEY}" },
    { API_KEY: "${env:API_KEY}" },
  ]);
});

it("does not copy a client secret", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: {
        url: "https://a.example",
        auth: { CLIENT_ID: "id", CLIENT_SECRET: "f81d4fae7dec11d0a76500a0c91e6bf6" },
      },
    },
  });
  const { servers, problems } = cursor.parse(text);
  expect(JSON.stringify([servers, problems])).not.toContain("f81d4fae");
});

it("is found in the project and at home", () => {
  expect(cursor.locations({ cwd: "/w", homeDir: "/h", env: {}, platform: "linux" })).toEqual([
    "/w/.cursor/mcp.json",
    "/h/.cursor/mcp.json",
  ]);
});
