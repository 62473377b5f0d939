/** A real browser, headless, where `PORTCULLIS_TEST_BROWSER` names one (`npm test` finds or installs it). */
import { chromium, type Browser } from "playwright-core";
import { describe } from "vitest";

const executable = process.env["PORTCULLIS_TEST_BROWSER"];

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function openBrowser(): Promise<Browser> {
  if (executable === undefined) throw new Error("PORTCULLIS_TEST_BROWSER is not set");
  return chromium.launch({ executablePath: executable, args: QUIET });
}

/** `describe` where a browser is there; without one a skipped block that says so, and in CI a failure. */
export function describeInBrowser(name: string, body: () => void): void {
  if (executable !== undefined) describe(name, { timeout: 90_000 }, body);
  else if (process.env["CI"] === "true") throw new Error("no browser: CI must run these tests");
  else describe.skip(`${name}: not run, there is no browser (PORTCULLIS_TEST_BROWSER)`, body);
}
