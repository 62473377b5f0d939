/** How a desktop shows a notice: the tool that each system brings. Pure. */
import type { Notice } from "./notices.ts";

/** Without these the tool does not find the desktop of this session. */
export const DESKTOP_VARIABLES: readonly string[] = [
  "DBUS_SESSION_BUS_ADDRESS",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XDG_RUNTIME_DIR",
];

const MAX_TEXT = 300;

/** @returns `null` where this platform has no such tool. */
export function desktopCommand(
  { title, text }: Pick<Notice, "title" | "text">,
  platform: NodeJS.Platform,
): { readonly command: string; readonly args: readonly string[] } | null {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  if (platform === "darwin") {
    const script = [
      "on run argv",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "end run",
    ];
    return { command: "osascript", args: [...script.flatMap((line) => ["-e", line]), title, shown] };
  }
  if (platform !== "linux" && platform !== "freebsd" && platform !== "openbsd") return null;
  return {
    command: "notify-send",
    args: ["--app-name=Portcullis", "--", escapeMarkup(title), escapeMarkup(shown)],
  };
}

/** The body is read as markup by some desktops. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
