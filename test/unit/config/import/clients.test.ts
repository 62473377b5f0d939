import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileConfig } from "../../../../src/config/compile.ts";
import { clientImporters, importerForFile } from "../../../../src/config/import/clients.ts";

const facts = { file: null, baseDir: "/b", homeDir: "/h", platform: "linux" as const, stateDir: "/s" };

describe("importerForFile", () => {
  it.each([
    ["/h/Library/Application Support/Claude/claude_desktop_config.json", "claude-desktop"],
    ["/w/.mcp.json", "claude-code"],
    ["/h/.claude.json", "claude-code"],
    ["/w/.vscode/mcp.json", "vscode"],
    ["C:\\U\\AppData\\Roaming\\Code\\User\\mcp.json", "vscode"],
    ["/w/.cursor/mcp.json", "cursor"],
    ["/h/.codex/config.toml", "codex"],
    ["/h/.gemini/settings.json", "gemini"],
    ["/h/.codeium/windsurf/mcp_config.json", "windsurf"],
    ["/x/cline_mcp_settings.json", "cline"],
    ["/h/.config/zed/settings.json", "zed"],
    ["/h/.copilot/mcp-config.json", "copilot"],
    ["/w/.github/mcp.json", "copilot"],
    ["/w/whatever.json", undefined],
  ])("%s: %s", (file, id) => {
    expect(importerForFile(file)?.id).toBe(id);
  });
});

describe("every importer", () => {
  it("recognises each of its own places", () => {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      for (const importer of clientImporters) {
        const homeDir = platform === "win32" ? "C:\\U" : "/h";
        for (const path of importer.locations({ cwd: homeDir, homeDir, env: {}, platform })) {
          expect(importerForFile(path)?.id).toBe(importer.id);
        }
      }
    }
  });

  it("takes any text, and what comes out compiles", () => {
    const keys = [
      "mcpServers",
      "servers",
      "mcp",
      "context_servers",
      "mcp_servers",
      "command",
      "args",
      "env",
      "url",
      "headers",
      "tools",
      "timeout",
      "type",
      "oauth",
      "auth",
      "a",
      "__proto__",
    ];
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(
          fc.string(),
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
          fc.constant("https://x.example"),
          fc.constant("${A}"),
        ),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...keys), tie("value"), { maxKeys: 5 }),
      ),
    })).value;
    const text = fc.oneof(
      fc.string(),
      json.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(text, (input) => {
        for (const importer of clientImporters) {
          const { servers } = importer.parse(input, "a");
          for (const [name, entry] of Object.entries(servers)) {
            expect(compileConfig({ mcpServers: { [name]: entry } }, facts).servers.size).toBe(1);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
