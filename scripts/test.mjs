// `npm test [vitest arguments]`: the whole suite. Installs the browser that it needs where it can (Debian, as root);
// elsewhere the tests that need one are skipped and counted aloud. With CI set a skipped browser is a failure.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];

function findBrowser() {
  return process.env.PORTCULLIS_TEST_BROWSER ?? browsers.find((path) => existsSync(path));
}

if (findBrowser() === undefined && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
  console.log("installing Chromium for the console's tests (Debian package, a minute or two) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = { stdio: ["ignore", "ignore", "inherit"], env };
  spawnSync("apt-get", ["update", "-qq"], quiet);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], quiet);
}

const browser = findBrowser();
if (browser === undefined) console.log("no Chromium here: the tests that need a browser are skipped (install chromium to run them)");

const { status } = spawnSync("vitest", ["run", ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, ...(browser === undefined ? {} : { PORTCULLIS_TEST_BROWSER: browser }) },
});
process.exit(status ?? 1);
