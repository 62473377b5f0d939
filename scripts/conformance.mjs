/**
 * `npm run conformance [words]`: the official suite against our client, every scenario at every revision it applies to, each in
 * a run of its own: only then do the client's exit code, its time and the warnings count. Then the required server scenarios
 * against the gateway. Words select scenarios by name. Exit code 1 on any miss, and where a required scenario was not run.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const suite = join(root, "node_modules/@modelcontextprotocol/conformance");
const runner = join(suite, "dist/index.js");
const command = "node conformance/client.ts";
const requiredRevisions = ["2025-11-25", "2026-07-28"];
const timeoutMs = 60_000;

/** What is not played yet, by the work that will. None of it is required at any revision. */
const open = [{ match: /^sep-2640-/, work: "Skills" }];

function run(args) {
  const { promise, resolve } = Promise.withResolvers();
  // The client's `node` must be this one.
  const path = `${join(process.execPath, "..")}:${process.env.PATH}`;
  const child = spawn(process.execPath, ["--disable-warning=DEP0190", runner, ...args], {
    cwd: root,
    env: { ...process.env, PATH: path },
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  child.on("close", (code) => resolve({ code, output }));
  return promise;
}

/** Every pair of scenario and revision that the suite knows for clients. */
async function listPairs() {
  const { output } = await run(["list", "--client"]);
  const pairs = [];
  for (const [, scenario, tags] of output.matchAll(/^\s+- (\S+) \[([^\]]+)\]$/gm)) {
    // An extension stands beside the revisions: it is played at those that are required.
    const isExtension = tags === "extension";
    for (const revision of isExtension ? requiredRevisions : tags.split(","))
      pairs.push({ scenario, revision, isExtension });
  }
  return pairs;
}

/** The names under `client:` or `server:` of a requirement set. */
function readRequired(revision, side = "client") {
  const lines = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").split("\n");
  const start = lines.indexOf(`${side}:`);
  const names = [];
  for (const line of lines.slice(start + 1)) {
    const name = /^ {2}- (\S+)$/.exec(line)?.[1];
    if (name !== undefined) names.push(name);
    else if (/^\S/.test(line)) break;
  }
  return names;
}

async function play({ scenario, revision, isExtension }, scratch) {
  const folder = mkdtempSync(join(scratch, "run-"));
  const startedMs = performance.now();
  const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
  if (isExtension) args.push("--force");
  const { code, output } = await run([...args, "--timeout", String(timeoutMs), "-o", folder]);
  const [results] = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith("checks.json"));
  const checks = results === undefined ? [] : JSON.parse(readFileSync(join(folder, results), "utf8"));
  const count = (status) => checks.filter((check) => check.status === status).length;
  const passed = count("SUCCESS");
  return {
    scenario,
    revision,
    passed,
    failed: count("FAILURE"),
    warnings: count("WARNING"),
    ms: performance.now() - startedMs,
    ok: code === 0 && passed > 0,
    output,
  };
}

/** What the gateway does otherwise than a server of the suite would, check by check, and why. */
const marks = "what a server embeds stands in the text between marks";
const own = "questions go out one at a time, under keys of the gateway";
const asResult = "a server's demand for a capability is told as a result of the call";
const differs = {
  "tools-call-embedded-resource": { "tools-call-embedded-resource": marks },
  "tools-call-mixed-content": { "tools-call-mixed-content": marks },
  "prompts-get-embedded-resource": { "prompts-get-embedded-resource": marks },
  "tools-call-with-logging": { "tools-call-with-logging": "what servers log is not passed on" },
  "elicitation-sep1330-enums": {
    "elicitation-sep1330-legacy-enumnames": "the older spelling of a titled choice goes out as the newer one",
  },
  "input-required-result-basic-elicitation": { "*": own },
  "input-required-result-multiple-input-requests": { "*": own },
  "server-stateless": {
    "sep-2575-server-rejects-undeclared-capability": asResult,
    "sep-2575-missing-capability-http-400": asResult,
    "sep-2575-http-server-no-independent-requests-on-stream": "not tried: shown by our own tests",
    "sep-2575-server-no-log-without-loglevel": "what servers log is not passed on",
  },
};

/** The server scenarios against the gateway. @returns how many went otherwise than they should. */
async function playGateway(scratch, wanted) {
  const gateway = spawn(process.execPath, ["conformance/gateway.ts"], { cwd: root });
  gateway.stderr.pipe(process.stderr);
  const ended = new Promise((resolve) => gateway.once("close", resolve));
  let missed = 0;
  try {
    const url = await new Promise((resolve, reject) => {
      gateway.stdout.once("data", (data) => resolve(String(data).trim()));
      gateway.once("close", () => reject(new Error("the gateway did not start")));
    });
    console.log("\nthe gateway as a server\n          revision    checks  scenario");
    for (const revision of requiredRevisions) {
      const folder = mkdtempSync(join(scratch, "gateway-"));
      const { output } = await run(["server", "--url", url, "--requirements", revision, "-o", folder]);
      const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith("checks.json"));
      for (const scenario of readRequired(revision, "server").filter(wanted)) {
        // The folder of a scenario is its name and the time.
        const results = files.find((file) => /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(file)?.[1] === scenario);
        const checks = results === undefined ? [] : JSON.parse(readFileSync(join(folder, results), "utf8"));
        const passed = checks.filter(({ status }) => status === "SUCCESS").length;
        const failed = checks.filter(({ status }) => status === "FAILURE");
        const reasonOf = ({ id }) => differs[scenario]?.[id] ?? differs[scenario]?.["*"];
        const isMissed = passed === 0 || failed.some((check) => reasonOf(check) === undefined);
        // A reason that nothing needs any more has to go.
        const isStale = failed.length === 0 && differs[scenario] !== undefined && revision === "2026-07-28";
        if (isMissed || isStale) missed += 1;
        const state = isMissed ? "FAILED" : isStale ? "STALE " : failed.length > 0 ? "differs" : "ok    ";
        const count = `${passed}/${passed + failed.length}`.padStart(6);
        console.log(`${state.padEnd(10)}${revision}  ${count}  ${scenario}`);
        for (const why of new Set(failed.map(reasonOf)))
          if (why !== undefined) console.log(`${" ".repeat(30)}${why}`);
        if (isMissed) console.log(output.slice(-3_000));
      }
    }
  } finally {
    gateway.stdin.end();
    await ended;
  }
  return missed;
}

const words = process.argv.slice(2);
const required = new Map(requiredRevisions.map((revision) => [revision, readRequired(revision)]));
const pairs = (await listPairs()).filter(
  ({ scenario }) => words.length === 0 || words.some((word) => scenario.includes(word)),
);
const work = ({ scenario }) => open.find(({ match }) => match.test(scenario))?.work;
const queue = pairs.filter((pair) => work(pair) === undefined);
const scratch = mkdtempSync(join(tmpdir(), "portcullis-conformance-"));
const results = [];
const startedMs = performance.now();

async function drain() {
  for (let pair = queue.shift(); pair !== undefined; pair = queue.shift())
    results.push(await play(pair, scratch));
}

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, drain));

const isRequired = ({ scenario, revision }) => required.get(revision)?.includes(scenario) === true;
results.sort((a, b) => a.revision.localeCompare(b.revision) || a.scenario.localeCompare(b.scenario));
console.log("          revision    checks  scenario");
for (const result of results) {
  const { scenario, revision, passed, failed, warnings, ok, ms } = result;
  const checks = `${passed}/${passed + failed}${warnings === 0 ? "" : ` !${warnings}`}`;
  const mark = isRequired(result) ? "*" : " ";
  console.log(
    `${ok ? "ok    " : "FAILED"}  ${mark} ${revision}  ${checks.padStart(6)}  ${scenario} (${(ms / 1000).toFixed(1)} s)`,
  );
}
for (const pair of pairs) {
  if (work(pair) !== undefined)
    console.log(`open      ${pair.revision.padEnd(10)}          ${pair.scenario} (${work(pair)})`);
}
for (const { scenario, revision, output } of results.filter((result) => !result.ok)) {
  console.log(`\n== ${scenario} at ${revision}\n${output.slice(-6_000)}`);
}

let missed = results.filter((result) => !result.ok).length;
console.log("");
for (const [revision, names] of required) {
  const met = names.filter((name) =>
    results.some((result) => result.ok && result.revision === revision && result.scenario === name),
  );
  console.log(`required at ${revision}: ${met.length}/${names.length}`);
  if (words.length === 0)
    missed += names.filter(
      (name) => !results.some((r) => r.revision === revision && r.scenario === name),
    ).length;
}
try {
  missed += await playGateway(
    scratch,
    (scenario) => words.length === 0 || words.some((word) => scenario.includes(word)),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`* required; ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
console.log(`${results.filter((result) => result.ok).length} passed, ${missed} failed`);
process.exit(missed === 0 ? 0 : 1);
