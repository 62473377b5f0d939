import { expect, it } from "vitest";
import { gemini } from "../../../../src/config/import/gemini.ts";

const text = `{
  "theme": "Dracula",
  "mcp": { "allowed": ["git", "hub", "old"], "excluded": ["old"] },
  "mcpServers": {
    "git": {
      "command": "uvx", "args": ["mcp-server-git", "--repository=$REPO"], "cwd": "./x",
      "env": { "TOKEN": "$GIT_TOKEN", "PRICE": "5$", "B": "\${BRACED}" },
      "timeout": 30000, "trust": true, "includeTools": ["status", "log(short)"], "excludeTools": ["commit"]
    },
    "hub": { "httpUrl": "https://hub.example/mcp/", "headers": { "Authorization": "Bearer abcdef1234567890abcdef" } },
    "old": { "url": "https://old.example/sse" },
    "other": { "command": "x" }
  }
}`;

it("takes over both addresses, `$NAME`, lists of tools, and who is allowed", () => {
  const { servers, problems } = gemini.parse(text);
  expect(servers).toEqual({
    git: {
      command: "uvx",
      args: ["mcp-server-git", "--repository=${env:REPO}"],
      cwd: "./x",
      env: { TOKEN: "${env:GIT_TOKEN}", PRICE: "5$", B: "${env:BRACED}" },
      limits: { timeout: "30s" },
      default: "off",
      tools: { status: "L2", log: "L2", commit: "off" },
    },
    hub: { url: "https://hub.example/mcp/", headers: { Authorization: "Bearer ${env:HUB_TOKEN}" } },
    old: { url: "https://old.example/sse", disabled: true },
    other: { command: "x", disabled: true },
  });
  expect(problems.map((problem) => `${problem.server ?? ""}: ${problem.message}`)).toEqual([
    "git: `trust` allowed calls without a question and was left out: its tools are L2 until you grade them",
    "hub: `Authorization` holds a secret, which was not copied: set the variable `HUB_TOKEN`",
    'old: `url` means HTTP+SSE there and Streamable HTTP here: if it does not answer, add "transport": "sse"',
  ]);
});

it("is found in the project and at home", () => {
  expect(gemini.locations({ cwd: "/w", homeDir: "/h", env: {}, platform: "linux" })).toEqual([
    "/w/.gemini/settings.json",
    "/h/.gemini/settings.json",
  ]);
});
