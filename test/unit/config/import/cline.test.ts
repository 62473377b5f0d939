import { expect, it } from "vitest";
import { cline } from "../../../../src/config/import/cline.ts";

it("takes over seconds, switches and types, and no automatic approval", () => {
  const text = JSON.stringify({
    mcpServers: {
      local: { command: "node", args: ["x.js"], disabled: false, autoApprove: ["read", "list"], timeout: 60 },
      hub: {
        type: "streamableHttp",
        url: "https://hub.example/mcp",
        disabled: true,
        autoApprove: [],
        timeout: 3600,
      },
      old: { url: "https://old.example/sse", transportType: "sse" },
    },
  });
  const { servers, problems } = cline.parse(text);
  expect(servers).toEqual({
    local: { command: "node", args: ["x.js"], limits: { timeout: "1m" } },
    hub: { url: "https://hub.example/mcp", disabled: true, limits: { timeout: "1h" } },
    old: { url: "https://old.example/sse", transport: "sse" },
  });
  expect(problems.map((problem) => problem.server)).toEqual(["local", "old"]);
});

it("is found in VS Code's storage and at home", () => {
  expect(cline.locations({ cwd: "/w", homeDir: "/h", env: {}, platform: "linux" })).toEqual([
    "/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    "/h/.cline/data/settings/cline_mcp_settings.json",
  ]);
});
