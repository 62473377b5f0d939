import { expect, it } from "vitest";
import { vscode } from "../../../../src/config/import/vscode.ts";

const text = `{
  // asked for once
  "inputs": [{ "type": "promptString", "id": "perplexity-key", "description": "API key", "password": true }],
  "servers": {
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask", "--root=\${workspaceFolder}/src"],
      "env": { "KEY": "\${input:perplexity-key}", "HOST": "\${env:HOSTNAME}", "HOME_DIR": "\${userHome}" },
      "envFile": "\${workspaceFolder}/.env",
      "cwd": "\${workspaceFolder}/tools",
      "dev": { "watch": "src/**" },
    },
    "hub": { "type": "http", "url": "https://hub.example/mcp", "gallery": true, "version": "1.0" },
    "pipe": { "type": "http", "url": "unix:///tmp/x.sock" },
    "odd": { "command": "x", "args": ["\${config:a.b}", "\${command:pick}"] },
  },
}`;

it("takes over `servers`, names inputs as variables, and makes paths relative", () => {
  const { servers, problems } = vscode.parse(text);
  expect(servers).toEqual({
    perplexity: {
      command: "npx",
      args: ["-y", "server-perplexity-ask", "--root=./src"],
      env: { KEY: "${env:PERPLEXITY_KEY}", HOST: "${env:HOSTNAME}", HOME_DIR: "${env:HOME}" },
      cwd: "./tools",
    },
    hub: { url: "https://hub.example/mcp" },
    odd: { command: "x", args: ["$${config:a.b}", "$${command:pick}"] },
  });
  const messages = problems.map((problem) => `${problem.server ?? ""}: ${problem.message}`);
  expect(messages).toContain(
    "perplexity: `KEY` was asked for by the editor: set the variable `PERPLEXITY_KEY`",
  );
  expect(messages).toContain(
    "perplexity: `envFile` is not read here: name its variables in `env`, each as `${env:NAME}`",
  );
  expect(messages.filter((message) => message.startsWith("odd"))).toHaveLength(2);
});

it("reads the older form inside the settings", () => {
  const settings = '{ "editor.fontSize": 12, "mcp": { "servers": { "a": { "command": "x" } } } }';
  expect(vscode.parse(settings).servers).toEqual({ a: { command: "x" } });
});

it("is found in the project and in the user's profile", () => {
  expect(vscode.locations({ cwd: "/w", homeDir: "/h", env: {}, platform: "darwin" })).toEqual([
    "/w/.vscode/mcp.json",
    "/h/Library/Application Support/Code/User/mcp.json",
  ]);
});
