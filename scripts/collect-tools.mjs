/**
 * Collects the tool definitions of published MCP servers as data for tests: `test/corpus/tools/NAME.json`. Run by hand, seldom:
 *
 *     node scripts/collect-tools.mjs [--scratch DIR] [--allow-network] [PACKAGE …]
 *
 * Each package is installed at the version named here, without its install scripts, into a folder of its own outside of the
 * checkout; its server is started over stdio with made-up credentials and no network (a namespace of its own, by `unshare`; with
 * `--allow-network` without one), asked for `tools/list`, and its process group ended. Nothing is called. Only packages under a
 * permissive licence are kept.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { connectStdio } from "../src/client/connect-stdio.ts";

const run = promisify(execFile);
const target = fileURLToPath(new URL("../test/corpus/tools/", import.meta.url));

const GOAL = 600;
const INSTALL_MS = 150_000;
const LIST_MS = 40_000;
const MAX_PAGES = 20;
/** Of one package, so that no single author shapes the whole set. */
const MAX_TOOLS = 90;
const MAX_FILE_BYTES = 500_000;
const LICENCES = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC"]);
/** What a definition says to models and people; the rest (`_meta`, icons) is of no use to the tests. */
const MEMBERS = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/** Which servers: name, version, then what they need to start at all. */
const SERVERS = [
  ["@modelcontextprotocol/server-everything", "2026.8.31"],
  ["@modelcontextprotocol/server-filesystem", "2026.8.31", { args: ["."] }],
  ["@modelcontextprotocol/server-memory", "2026.8.31"],
  ["@modelcontextprotocol/server-github", "2025.4.8"],
  ["@modelcontextprotocol/server-google-maps", "0.6.2", { env: { GOOGLE_MAPS_API_KEY: "none" } }],
  [
    "@modelcontextprotocol/server-slack",
    "2025.4.25",
    { env: { SLACK_BOT_TOKEN: "none", SLACK_TEAM_ID: "none" } },
  ],
  ["@playwright/mcp", "0.0.83"],
  ["chrome-devtools-mcp", "1.11.0"],
  ["mongodb-mcp-server", "3.0.4", { args: ["--telemetry", "disabled"] }],
  ["@notionhq/notion-mcp-server", "2.5.2", { env: { NOTION_TOKEN: "none" } }],
  ["@zereight/mcp-gitlab", "2.1.64", { env: { GITLAB_PERSONAL_ACCESS_TOKEN: "none" } }],
  ["@supabase/mcp-server-supabase", "0.13.0", { env: { SUPABASE_ACCESS_TOKEN: "none" } }],
  ["mcp-server-kubernetes", "4.1.7"],
  ["@cyanheads/git-mcp-server", "2.15.3"],
  ["@antv/mcp-server-chart", "0.9.10"],
  ["@mapbox/mcp-server", "0.14.0", { env: { MAPBOX_ACCESS_TOKEN: "pk.eyJ1Ijoibm9uZSJ9.none" } }],
  [
    "@masonator/coolify-mcp",
    "3.5.0",
    { env: { COOLIFY_ACCESS_TOKEN: "none", COOLIFY_BASE_URL: "http://127.0.0.1" } },
  ],
  ["@roychri/mcp-server-asana", "1.8.0", { env: { ASANA_ACCESS_TOKEN: "none" } }],
  ["@circleci/mcp-server-circleci", "0.20.0", { env: { CIRCLECI_TOKEN: "none" } }],
  ["@line/line-bot-mcp-server", "0.5.0", { env: { CHANNEL_ACCESS_TOKEN: "none" } }],
  ["@executeautomation/playwright-mcp-server", "1.0.12"],
  ["@coo-quack/calc-mcp", "2.1.1"],
  ["@dangahagan/weather-mcp", "1.23.0"],
  [
    "@azure-devops/mcp",
    "2.10.0",
    { args: ["none", "--authentication", "env"], env: { ADO_MCP_AUTH_TOKEN: "none" } },
  ],
  [
    "@easecloudio/mcp-metabase-server",
    "1.3.0",
    { env: { METABASE_URL: "http://127.0.0.1", METABASE_API_KEY: "none" } },
  ],
  ["@mistertk/vercel-mcp", "0.1.1", { env: { VERCEL_API_TOKEN: "none" } }],
  [
    "ebay-mcp",
    "1.15.0",
    { env: { EBAY_CLIENT_ID: "none", EBAY_CLIENT_SECRET: "none", EBAY_ENVIRONMENT: "sandbox" } },
  ],
  ["selenium-ai-agent", "3.3.4"],
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scratch: { type: "string" }, "allow-network": { type: "boolean", default: false } },
});
const scratch =
  values.scratch === undefined ? await mkdtemp(join(tmpdir(), "portcullis-tools-")) : resolve(values.scratch);
const wrapper = values["allow-network"] ? [] : ["unshare", "--net", "--"];
if (wrapper.length > 0) await run("unshare", ["--net", "--", "true"]);
await mkdir(target, { recursive: true });

let collected = 0;
for (const [name, version, start = {}] of SERVERS) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  if (collected >= GOAL) break;
  try {
    const { dir, licence, bin } = await install(name, version);
    const tools = keep(await list(bin, start, dir), scratch);
    if (tools.length === 0) throw new Error("it lists no tools");
    // A tool a line, for readable differences.
    const lines = tools.map((tool) => JSON.stringify(tool)).join(",\n");
    const text = `${JSON.stringify({ package: name, version, licence }).slice(0, -1)},"tools":[\n${lines}\n]}\n`;
    await writeFile(join(target, `${fileName(name)}.json`), text);
    collected += tools.length;
    console.log(`${name}@${version} (${licence}): ${tools.length} tools, ${text.length} bytes`);
  } catch (error) {
    console.log(`${name}@${version}: left out: ${String(error.message ?? error).split("\n")[0]}`);
  }
}
console.log(`${collected} tools`);

function fileName(name) {
  return name.replace(/^@/, "").replaceAll("/", "--");
}

/** Installs one package without running anything of it. */
async function install(name, version) {
  const dir = join(scratch, fileName(name));
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "package.json"), '{"private":true}');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error"];
  await run("npm", ["install", ...flags, `${name}@${version}`], { cwd: dir, timeout: INSTALL_MS });
  const home = join(dir, "node_modules", name);
  const manifest = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  const licence = String(manifest.license ?? "none");
  if (!LICENCES.has(licence)) throw new Error(`its licence is ${licence}`);
  const bins = typeof manifest.bin === "string" ? [manifest.bin] : Object.values(manifest.bin ?? {});
  if (bins.length === 0) throw new Error("it has no command");
  return { dir, licence, bin: join(home, bins[0]) };
}

/** Starts the server in an empty folder and lists its tools as they come. */
async function list(bin, { args = [], env = {} }, dir) {
  const cwd = join(dir, "cwd");
  await mkdir(cwd, { recursive: true });
  const [command, ...words] = [...wrapper, process.execPath, bin, ...args];
  const client = await connectStdio(
    { command, args: words, cwd, env: { PATH: process.env.PATH ?? "", HOME: cwd, ...env } },
    { clientInfo: { name: "collect-tools", version: "1" }, signal: AbortSignal.timeout(LIST_MS) },
  );
  try {
    const tools = [];
    let cursor;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await client.request("tools/list", cursor === undefined ? {} : { cursor });
      if (!Array.isArray(answer.tools)) break;
      tools.push(...answer.tools);
      cursor = answer.nextCursor;
      if (typeof cursor !== "string") break;
    }
    return tools;
  } finally {
    await client.close();
  }
}

/** Evenly over the list where it is too long, so that all parts of it are there. */
function keep(tools, scratchDir) {
  const step = Math.max(1, tools.length / MAX_TOOLS);
  const kept = [];
  let bytes = 0;
  for (let at = 0; at < tools.length; at += step) {
    const tool = tools[Math.floor(at)];
    const picked = Object.fromEntries(
      MEMBERS.flatMap((name) => (tool?.[name] === undefined ? [] : [[name, tool[name]]])),
    );
    const text = JSON.stringify(picked);
    bytes += text.length;
    if (bytes > MAX_FILE_BYTES) break;
    // Some servers name the folder that they run in.
    kept.push(JSON.parse(text.replaceAll(scratchDir, "/scratch")));
  }
  return kept;
}
