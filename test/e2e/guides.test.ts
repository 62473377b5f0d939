/** Every command and every block of the guides, as they stand there. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectStdio } from "../../src/client/index.ts";
import { compileConfig } from "../../src/config/compile.ts";
import { claudeCode } from "../../src/config/import/claude-code.ts";
import { claudeDesktop } from "../../src/config/import/claude-desktop.ts";
import { codex } from "../../src/config/import/codex.ts";
import { cursor } from "../../src/config/import/cursor.ts";
import { vscode } from "../../src/config/import/vscode.ts";
import { parseConfigText } from "../../src/config/jsonc.ts";
import { openCollector, type Collector } from "../support/collector.ts";
import { blocksOf, createGuideRun, missingFrom, regionOf, type GuideRun } from "../support/guide.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "docs/guides");
const guides = readdirSync(folder).filter((name) => name.endsWith(".md"));
/** Those that are run from their first command to their last. */
const walked = ["grades-and-approvals.md", "servers.md", "what-happened.md"] as const;

/** Runs a guide from top to bottom. */
async function walk(run: GuideRun, guide: string): Promise<void> {
  let before = 0;
  for (const { language, text } of blocksOf(guide)) {
    if (language === "jsonc" && text.startsWith("// portcullis.json")) await run.writeConfig(text);
    if (language === "sh") {
      before = run.output().length;
      await run.commands(text);
    }
    if (language === "text")
      expect(
        missingFrom(run.output().slice(before), text),
        `${guide} quotes what was not printed:\n${run.output().slice(before)}`,
      ).toBeUndefined();
  }
}

describe("the guides", () => {
  it.each(guides)("%s: links lead somewhere", (guide) => {
    const text = readFileSync(join(folder, guide), "utf8");
    const broken = [...text.matchAll(/\]\(([^)#\s]+)(?:#([^)\s]+))?\)/g)].filter(([, path = "", anchor]) => {
      if (path.startsWith("https:")) return false;
      const file = resolve(dirname(join(folder, guide)), path);
      if (!existsSync(file)) return true;
      const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, "")
          .replaceAll(" ", "-"),
      );
      return anchor !== undefined && !headings.includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  const regions = guides.flatMap((guide) =>
    blocksOf(guide).flatMap(({ region, text }) => (region === null ? [] : [{ guide, region, text }])),
  );
  it.each(regions)("$guide shows $region as it runs", ({ region, text }) => {
    expect(text).toBe(regionOf(region));
  });

  it.each(guides)("%s: configurations compile without a warning", (guide) => {
    const texts = blocksOf(guide).filter(({ language }) => language === "jsonc");
    for (const { text } of texts) {
      const { value, problems } = parseConfigText(text);
      expect(problems).toEqual([]);
      const facts = { baseDir: root, homeDir: root, platform: "linux", stateDir: join(root, "x") } as const;
      expect(compileConfig(value, { file: null, ...facts }).warnings).toEqual([]);
    }
  });
});

describe.each(walked)("%s", (guide) => {
  const run = createGuideRun();
  afterAll(() => run.end());

  it("every command ends as it says, and prints what is quoted", { timeout: 180_000 }, () =>
    walk(run, guide),
  );
});

/** Runs an example in the repository's own folder, with a home of its own. @returns standard output. */
function runExample(home: string, file: string, ...words: string[]): string {
  const run = spawnSync(process.execPath, ["--conditions=source", `examples/${file}`, ...words], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env["PATH"], HOME: home },
  });
  expect([run.status, run.stderr]).toEqual([0, ""]);
  return run.stdout;
}

describe("the examples of the guides", { timeout: 60_000 }, () => {
  const run = createGuideRun();
  afterAll(() => run.end());

  it("an agent with people: asks, refuses, corrects, closes", () => {
    const printed = runExample(run.dir, "agent-with-people.ts");
    for (const line of [
      "files: connecting → ready (connected)",
      "files__read_text_file: completed, effect none",
      "files__write_file: invalid_arguments, effect none",
      "  because: hard to reverse",
      "files__write_file: completed, effect applied",
      "files__move_file: refused, effect none",
      "0 calls were cut off, 0 servers would not stop",
    ])
      expect(printed).toContain(line);
  });

  it("the low-level client: connects, lists, calls, fails, and speaks over a transport of one's own", () => {
    const printed = runExample(run.dir, "low-level-client.ts");
    for (const line of ["13 tools", "Echo: hi", "interrupted", "false true", "over a socket", "clean"])
      expect(printed).toContain(line);
  });
});

/** The spans of one request to a collector, as a backend lists them: name and outcome. */
function spansOf(body: object): readonly string[] {
  type Span = { name: string; attributes: { key: string; value: { stringValue?: string } }[] };
  const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  return spans.map(({ name, attributes }) => {
    const outcome = attributes.find(({ key }) => key === "portcullis.outcome");
    return `${name} ${outcome?.value.stringValue ?? ""}`;
  });
}

describe("opentelemetry.md", { timeout: 120_000 }, () => {
  const run = createGuideRun({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" });
  const blocks = blocksOf("opentelemetry.md");
  let collector: Collector;

  beforeAll(async () => {
    collector = await openCollector();
  });
  afterAll(async () => {
    await run.end();
    await collector.close();
  });

  it("its gateway tells a collector what the guide shows", async () => {
    const config = blocks.find(({ language }) => language === "jsonc")?.text ?? "";
    await run.writeConfig(
      config.replace(`{ "endpoint": "http://localhost:4318",`, `{ "endpoint": "${collector.url}",`),
    );
    await run.commands(blocks.find(({ language }) => language === "sh")?.text ?? "");
    await collector.until(
      ({ path, body }) => path === "/v1/traces" && JSON.stringify(body).includes("refused"),
    );
    const shown = collector.received
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ body }) => spansOf(body));
    const quoted = blocks.filter(({ language }) => language === "text")[1]?.text ?? "";
    expect(missingFrom(shown.join("\n"), quoted), shown.join("\n")).toBeUndefined();
  });

  it("the program's own provider gets the span, in the trace that it told", () => {
    expect(runExample(run.dir, "opentelemetry.ts")).toBe(
      "tools/call read_text_file in 0af7651916cd43dd8448eb211c80319c, below b7ad6b7169203331\n",
    );
  });
});

describe("gateway.md", { timeout: 120_000 }, () => {
  const run = createGuideRun();
  const blocks = blocksOf("gateway.md");
  const entries = blocks.filter(({ language }) => language === "json" || language === "toml");
  let url = "";
  let token = "";

  beforeAll(async () => {
    await run.writeConfig(blocks.find(({ language }) => language === "jsonc")?.text ?? "");
    await run.commands(blocks.find(({ language }) => language === "sh")?.text ?? "");
    [, url = ""] = /Agents +(\S+)/.exec(run.output()) ?? [];
    [, token = ""] = /Bearer ([\w-]+)"/.exec(run.output()) ?? [];
  }, 60_000);
  afterAll(() => run.end());

  it.each([
    [claudeCode, 0],
    [cursor, 0],
    [vscode, 1],
    [codex, 2],
    [claudeDesktop, 3],
  ] as const)("$0.title reads the entry that stands there for it", (client, index) => {
    const { servers } = client.parse(entries[index]?.text ?? "");
    // The name is ours, so a reader of other clients' files calls it differently.
    expect(servers["portcullis-server"]).toMatchObject(
      index === 3
        ? { command: "node", args: expect.arrayContaining(["serve", "--stdio"]) }
        : {
            url: "http://127.0.0.1:7420/mcp",
            headers: { Authorization: expect.stringContaining("Bearer ") },
          },
    );
  });

  it("the entry over stdio that it prints starts a gateway from any folder", async () => {
    const line =
      run
        .output()
        .split("\n")
        .find((one) => one.includes('"--stdio"')) ?? "";
    const { mcpServers } = JSON.parse(line) as {
      mcpServers: { portcullis: { command: string; args: string[] } };
    };
    const client = await connectStdio(
      { ...mcpServers.portcullis, env: { HOME: join(run.dir, "elsewhere") }, cwd: "/" },
      { clientInfo: { name: "test", version: "1.0.0" } },
    );
    try {
      const { items } = await client.list("tools");
      expect(items.map(({ name }) => name)).toContain("files__read_text_file");
      expect(items.map(({ name }) => name)).not.toContain("files__edit_file");
    } finally {
      await client.close();
    }
  });

  it("a program sees an answer between marks, and a refusal that says what to do", async () => {
    const deny = async (): Promise<void> => {
      for (;;) {
        const { approvals } = JSON.parse(await run.run("npx portcullis approvals --json")) as {
          approvals: { id: string }[];
        };
        if (approvals[0] !== undefined) {
          await run.run(`npx portcullis deny ${approvals[0].id}`);
          return;
        }
      }
    };
    const { spawn } = await import("node:child_process");
    const child = spawn(
      process.execPath,
      ["--conditions=source", join(root, "examples/gateway-client.ts"), url, token],
      { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
    );
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ended = new Promise((resolve) => child.once("close", resolve));
    await Promise.all([deny(), ended]);
    expect(
      missingFrom(printed, blocks.find(({ language }) => language === "text")?.text ?? ""),
    ).toBeUndefined();
  });

  it("its other commands work while it runs", async () => {
    for (const { text } of blocks.filter(({ language }) => language === "sh").slice(1))
      await run.commands(text);
    expect(run.output()).toContain("ready");
  });
});
