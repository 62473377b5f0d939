import { expect, it } from "vitest";
import { copilot } from "../../../../src/config/import/copilot.ts";

it("takes over types and lists of tools", () => {
  const text = JSON.stringify({
    mcpServers: {
      serena: {
        type: "local",
        command: "uvx",
        args: ["serena"],
        tools: ["*"],
        env: { API_KEY: "${MY_API_KEY}" },
      },
      hub: { type: "http", url: "https://hub.example/mcp", tools: ["search", "read"] },
      flare: { type: "sse", url: "https://flare.example/sse", tools: [] },
    },
  });
  const { servers } = copilot.parse(text);
  expect(servers).toEqual({
    serena: { command: "uvx", args: ["serena"], env: { API_KEY: "${env:MY_API_KEY}" } },
    hub: { url: "https://hub.example/mcp", default: "off", tools: { search: "L2", read: "L2" } },
    flare: { url: "https://flare.example/sse", transport: "sse", default: "off" },
  });
});

it("takes over the bare form of project files, and nothing that only looks like it", () => {
  expect(
    copilot.parse('{ "playwright": { "command": "npx", "args": ["-y", "p@1.0.0"] } }').servers,
  ).toHaveProperty("playwright");
  expect(copilot.parse('{ "name": "package", "version": "1" }').servers).toEqual({});
  expect(copilot.parse("{}").problems).toHaveLength(1);
});

it("is found in the project, and at home or in COPILOT_HOME", () => {
  const facts = { cwd: "/w", homeDir: "/h", env: { COPILOT_HOME: "/c" }, platform: "linux" as const };
  expect(copilot.locations(facts)).toEqual(["/w/.github/mcp.json", "/c/mcp-config.json"]);
});
