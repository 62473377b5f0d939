import { expect, it } from "vitest";
import { windsurf } from "../../../../src/config/import/windsurf.ts";

it("takes over `serverUrl` and tools that are off", () => {
  const text = JSON.stringify({
    mcpServers: {
      hub: {
        serverUrl: "https://hub.example/mcp",
        headers: { Authorization: "Bearer ${env:HUB}" },
        disabledTools: ["drop"],
      },
      local: { command: "py", args: ["-m", "x"], disabled: true, env: {}, alwaysAllow: ["a"] },
    },
  });
  const { servers, problems } = windsurf.parse(text);
  expect(servers).toEqual({
    hub: {
      url: "https://hub.example/mcp",
      headers: { Authorization: "Bearer ${env:HUB}" },
      tools: { drop: "off" },
    },
    local: { command: "py", args: ["-m", "x"], env: {}, disabled: true },
  });
  expect(problems).toHaveLength(1);
});

it("is found at home", () => {
  expect(windsurf.locations({ cwd: "/w", homeDir: "C:\\U", env: {}, platform: "win32" })).toEqual([
    "C:\\U\\.codeium\\windsurf\\mcp_config.json",
  ]);
});
