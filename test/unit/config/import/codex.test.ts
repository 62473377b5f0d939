import { expect, it } from "vitest";
import { codex } from "../../../../src/config/import/codex.ts";

const text = `
model = "gpt-5"
approval_policy = "on-request"

[mcp_servers.docs]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN", { name = "REMOTE_TOKEN", source = "remote" }]
startup_timeout_sec = 20
tool_timeout_sec = 45.5
enabled_tools = ["resolve", "get"]
disabled_tools = ["get"]
cwd = "/srv"

[mcp_servers.docs.env]
MODE = "fast"

[mcp_servers.figma]
url = "https://mcp.figma.example/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }
env_http_headers = { "X-Trace" = "TRACE_ID" }
enabled = false
required = true
oauth_resource = "x"

[other]
when = 2026-01-01T00:00:00Z
`;

it("takes over tables, names of variables, seconds and lists of tools", () => {
  const { servers, problems } = codex.parse(text);
  expect(servers).toEqual({
    docs: {
      command: "npx",
      args: ["-y", "@upstash/context7-mcp"],
      env: { MODE: "fast", LOCAL_TOKEN: "${env:LOCAL_TOKEN}", REMOTE_TOKEN: "${env:REMOTE_TOKEN}" },
      cwd: "/srv",
      limits: { connect: "20s", timeout: "45500ms" },
      default: "off",
      tools: { resolve: "L2", get: "off" },
    },
    figma: {
      url: "https://mcp.figma.example/mcp",
      headers: {
        "X-Figma-Region": "us-east-1",
        Authorization: "Bearer ${env:FIGMA_OAUTH_TOKEN}",
        "X-Trace": "${env:TRACE_ID}",
      },
      connect: "eager",
      disabled: true,
    },
  });
  expect(problems).toEqual([{ server: "figma", message: "left out: `oauth_resource`" }]);
});

it("says so where the file is no TOML or has no servers", () => {
  expect(codex.parse("= broken").problems).toEqual([{ server: null, message: "the file is no TOML" }]);
  expect(codex.parse('model = "x"').problems[0]?.message).toContain("no servers of Codex");
});

it("is found in the project, and at home or in CODEX_HOME", () => {
  const facts = { cwd: "/w", homeDir: "/h", env: {}, platform: "linux" as const };
  expect(codex.locations(facts)).toEqual(["/w/.codex/config.toml", "/h/.codex/config.toml"]);
  expect(codex.locations({ ...facts, env: { CODEX_HOME: "/c" } })[1]).toBe("/c/config.toml");
});
