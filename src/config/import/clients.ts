/** All importers, for `init` and `init --from`. */
import { claudeCode } from "./claude-code.ts";
import { claudeDesktop } from "./claude-desktop.ts";
import type { ClientImporter } from "./importer.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { vscode } from "./vscode.ts";
import { windsurf } from "./windsurf.ts";
import { zed } from "./zed.ts";

export const clientImporters: readonly ClientImporter[] = [
  claudeCode,
  claudeDesktop,
  vscode,
  cursor,
  codex,
  gemini,
  windsurf,
  cline,
  zed,
  copilot,
];

/** The importer for a file by its usual name and place; `null` where the name says nothing. */
export function importerForFile(file: string): ClientImporter | null {
  const path = file.replaceAll("\\", "/");
  const hints: readonly (readonly [RegExp, ClientImporter])[] = [
    [/claude_desktop_config\.json$/, claudeDesktop],
    [/(?:^|\/)\.?claude\.json$|(?:^|\/)\.mcp\.json$/, claudeCode],
    [/\.vscode\/mcp\.json$|Code\/User\/mcp\.json$/, vscode],
    [/\.cursor\/mcp\.json$/, cursor],
    [/\.toml$/, codex],
    [/\.gemini\/settings\.json$/, gemini],
    [/mcp_config\.json$/, windsurf],
    [/cline_mcp_settings\.json$/, cline],
    [/zed\/settings\.json$/i, zed],
    [/mcp-config\.json$|\.github\/mcp\.json$/, copilot],
  ];
  return hints.find(([shape]) => shape.test(path))?.[1] ?? null;
}
