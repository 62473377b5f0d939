#!/usr/bin/env node
// Old syntax on purpose: whatever Node.js starts this must be able to read it and say what is missing.
var wanted = [22, 19];
var have = process.versions.node.split(".").map(Number);
if (have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < wanted[1])) {
  console.error(
    "portcullis needs Node.js " +
      wanted.join(".") +
      " or newer; this is " +
      process.versions.node +
      " (" +
      process.execPath +
      ").",
  );
  // Run from elsewhere, npm does not put a clone's own Node.js first.
  console.error(
    "In a clone, start it with node_modules/.bin/node bin/portcullis.mjs, or with npx in the clone's folder.",
  );
  process.exit(2);
}
// Node.js 22 calls its SQLite experimental; its users cannot do anything about it.
process.removeAllListeners("warning");
process.on("warning", function (warning) {
  if (warning.name !== "ExperimentalWarning") console.error(warning.name + ": " + warning.message);
});
void Promise.all([import("node:fs"), import("node:module")])
  .then(function (modules) {
    // The second start of a version compiles nothing.
    if (modules[1].enableCompileCache) modules[1].enableCompileCache();
    // A clone runs its sources, the published package what was compiled from them.
    var source = new URL("../src/cli/main.ts", import.meta.url);
    var built = new URL("../dist/cli/main.js", import.meta.url);
    return import((modules[0].existsSync(source) ? source : built).href);
  })
  .then(function (cli) {
    return cli.main(process.argv.slice(2));
  });
