// `npm test [vitest arguments]`: the whole suite. Installs the browser and the sandbox that it needs where it can (Debian, as root);
// elsewhere the tests that need one are skipped and counted aloud. With CI set such a skip is a failure.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const browsers = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

function findBrowser() {
  return process.env.PORTCULLIS_TEST_BROWSER ?? browsers.find((path) => existsSync(path));
}

const hasSandbox = () => existsSync("/usr/bin/bwrap");

if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
  const missing = [];
  if (findBrowser() === undefined) missing.push("chromium");
  if (!hasSandbox()) missing.push("bubblewrap");
  if (missing.length > 0) {
    console.log(
      `installing ${missing.join(" and ")} for the tests that need them (Debian packages, a minute or two) …`,
    );
    const quiet = {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    spawnSync("apt-get", ["update", "-qq"], quiet);
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], quiet);
  }
}

const browser = findBrowser();
if (browser === undefined)
  console.log("no Chromium here: the tests that need a browser are skipped (install chromium to run them)");
if (process.platform === "linux" && !hasSandbox())
  console.log(
    "no bubblewrap here: the tests that need a sandbox are skipped (install bubblewrap to run them)",
  );

const hasPostgres = () => {
  const { status } = spawnSync("initdb", ["--version"], { stdio: "ignore" });
  return status === 0 || existsSync("/usr/lib/postgresql");
};
if (!hasPostgres())
  console.log(
    "no PostgreSQL here: the tests of the shared store are skipped (install postgresql to run them)",
  );

const { status } = spawnSync("vitest", ["run", ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, ...(browser === undefined ? {} : { PORTCULLIS_TEST_BROWSER: browser }) },
});
process.exit(status ?? 1);
