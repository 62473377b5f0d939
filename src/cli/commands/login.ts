import { systemClock } from "../../base/clock.ts";
import { openBrowser } from "../../transport/open-browser.ts";
import { createTerminalLogin } from "../login-interaction.ts";
import type { CommandRun } from "../main.ts";
import { askLine, readLines } from "../prompt.ts";
import { given } from "../verb.ts";
import { loadTrusted, openHostFor } from "../workspace.ts";

export const run: CommandRun<{ yes?: boolean; browser?: boolean; principal?: string }> = async (
  { globals, output, signal },
  [server = ""],
  options,
) => {
  const config = await loadTrusted(globals, output, signal);
  const host = await openHostFor(config, "cli");
  const systemRoot = process.env["SystemRoot"];
  const facts = { platform: process.platform, ...(systemRoot === undefined ? {} : { systemRoot }) };
  try {
    const interaction = createTerminalLogin({
      server,
      output,
      isAgreed: options.yes === true,
      openBrowser:
        options.browser === false ? undefined : (url, until) => openBrowser(url, facts, systemClock, until),
      ask: askLine,
      lines: readLines,
      clock: systemClock,
    });
    const report = await host.login(server, interaction, {
      signal,
      ...given({ principal: options.principal }),
    });
    output.result({ server, ...report }, (document) => {
      const scopes = document.scopes.length === 0 ? "the default scopes" : document.scopes.join(", ");
      const until = document.expiresAt === null ? "" : `, until ${document.expiresAt}`;
      const goesOn = document.canRefresh ? ", renewed by itself" : until;
      return `logged in to ${server} at ${document.issuer} (${scopes}${goesOn})`;
    });
    return 0;
  } finally {
    await host.close();
  }
};
