import { expect, it } from "vitest";
import { claudeDesktop } from "../../../../src/config/import/claude-desktop.ts";

const text = `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]
    },
    "GitHub Server": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ", "DEBUG": "1" }
    },
    "literal": { "command": "x", "args": ["\${HOME}"] },
    "broken": "npx",
    "empty": {}
  }
}`;

it("takes over local servers, cleans names, copies no secret, and reads no variables", () => {
  const { servers, problems } = claudeDesktop.parse(text);
  expect(servers).toEqual({
    filesystem: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"],
    },
    "GitHub-Server": {
      command: "docker",
      args: ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${env:GITHUB_PERSONAL_ACCESS_TOKEN}", DEBUG: "1" },
    },
    literal: { command: "x", args: ["$${HOME}"] },
  });
  expect(problems.map((problem) => `${problem.server ?? ""}: ${problem.message}`)).toEqual([
    "GitHub Server: is called `GitHub-Server` here: names hold letters, digits, `.`, `-` and single `_`",
    "GitHub Server: `GITHUB_PERSONAL_ACCESS_TOKEN` holds a GitHub token, which was not copied: set the variable `GITHUB_PERSONAL_ACCESS_TOKEN`",
    "broken: is no object and was left out",
    "empty: has neither a command nor an address and was left out",
  ]);
  expect(JSON.stringify([servers, problems])).not.toContain("ghp_");
});

it.each([
  ["linux", "/home/me", {}, "/home/me/.config/Claude/claude_desktop_config.json"],
  ["darwin", "/Users/me", {}, "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"],
  ["win32", "C:\\Users\\me", { APPDATA: "D:\\App" }, "D:\\App\\Claude\\claude_desktop_config.json"],
] as const)("is found on %s", (platform, homeDir, env, path) => {
  expect(claudeDesktop.locations({ cwd: "/", homeDir, env, platform })).toEqual([path]);
});
