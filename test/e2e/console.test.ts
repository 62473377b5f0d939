/** The console in a real browser, on a real gateway with a real server behind it. */
import { spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeInBrowser, openBrowser } from "../support/browser.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const consoleDir = fileURLToPath(new URL("../../console", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describeInBrowser("the console", () => {
  let browser: Browser;
  let bench: Workbench;
  let gateway: ChildProcess;
  let link = "";
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    const build = spawnSync("vite", ["build", "--logLevel", "warn"], { cwd: consoleDir, encoding: "utf8" });
    expect(build.stderr + build.stdout).toBe("");
    browser = await openBrowser();
    bench = createWorkbench();
    const tools = {
      read: "L0",
      write: { grade: "L2", say: "Write {text}" },
      remove: { grade: "L2", items: "ids" },
    };
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools }) },
      gateway: { listen: "127.0.0.1:0" },
    });
    gateway = bench.start(["serve"]);
    link = await new Promise<string>((resolve, reject) => {
      let said = "";
      gateway.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /Console\s+(http\S+)/u.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      gateway.once("exit", () => reject(new Error(said)));
    });
  });

  afterAll(async () => {
    await browser?.close();
    const gone = new Promise((resolve) => gateway.once("close", resolve));
    gateway.kill("SIGTERM");
    await gone;
    bench.remove();
  });

  beforeEach(async () => {
    problems.length = 0;
    page = await browser.newPage();
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(link);
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  const open = (name: string): Promise<void> =>
    page.getByRole("navigation").getByRole("link", { name }).click();

  it("shows servers with state and last proof of life, tools with grades, and activity [TOOL-02, TOOL-03]", async () => {
    const call = await bench.run(["call", "ledger", "read", '{"text":"x"}', "--json"]);
    expect(call.exitCode).toBe(0);
    await open("Servers");
    await page
      .getByRole("row", { name: /ledger/ })
      .getByText("ready", { exact: true })
      .waitFor();
    await page
      .getByRole("row", { name: /ledger/ })
      .getByText("2025-11-25")
      .waitFor();
    await open("Tools");
    await page
      .getByRole("row", { name: /ledger__read/ })
      .getByText("L0")
      .waitFor();
    await page.getByRole("searchbox").fill("removes");
    await page.getByText("1 of 5 tools").waitFor();
    await open("Activity");
    await page
      .getByRole("row", { name: /ledger read/ })
      .getByText("completed")
      .first()
      .waitFor();
  });

  it("a waiting call appears by itself, is approved, and goes on [TOOL-04, TOOL-08, TOOL-09]", async () => {
    const waiting = bench.run(["call", "ledger", "write", '{"text":"from the page"}', "--wait", "--json"]);
    const card = page.getByRole("article", { name: /from the page/ });
    await card.waitFor();
    await card.getByText("hard to reverse").waitFor();
    await card.getByRole("button", { name: "Approve" }).click();
    const run = await waiting;
    expect(run.json).toMatchObject({ outcome: "completed", effect: "applied" });
    await page.getByText("Nothing waits for an answer.").waitFor();
    expect(
      bench
        .ledger()
        .filter((line) => line.tool === "write")
        .map((line) => line.args),
    ).toContainEqual({ text: "from the page" });
  });

  it("a denied one is not sent, and the reason reaches the model [TOOL-01]", async () => {
    const waiting = bench.run(["call", "ledger", "write", '{"text":"denied here"}', "--wait", "--json"]);
    const card = page.getByRole("article", { name: /denied here/ });
    await card.getByRole("textbox").fill("not on a Friday");
    await card.getByRole("button", { name: "Deny" }).click();
    const run = await waiting;
    expect(run.json).toMatchObject({ outcome: "refused", code: "approval_denied" });
    expect(run.json["model"]).toContain("not on a Friday");
  });

  it("items are taken out one by one", async () => {
    const waiting = bench.run([
      "call",
      "ledger",
      "remove",
      '{"ids":["one","two","three"]}',
      "--wait",
      "--json",
    ]);
    const card = page.getByRole("article").filter({ hasText: "two" });
    await card.getByLabel("two").uncheck();
    await card.getByRole("button", { name: "Approve" }).click();
    expect((await waiting).json).toMatchObject({ outcome: "completed" });
    expect(bench.ledger().at(-1)?.args).toEqual({ ids: ["one", "three"] });
  });

  it("markup, scripts and hidden characters in arguments are only text", async () => {
    const text = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202Eevil\u202C';
    const waiting = bench.run(["call", "ledger", "write", JSON.stringify({ text }), "--wait", "--json"]);
    const card = page.getByRole("article", { name: /img src/ });
    await card.getByRole("cell", { name: /<img src=x/ }).waitFor();
    expect(await card.locator("img, script").count()).toBe(0);
    expect(await card.innerText()).not.toContain("\u202E");
    await card.getByRole("button", { name: "Deny" }).click();
    expect((await waiting).exitCode).toBe(3);
  });

  it("pause and resume", async () => {
    await open("Servers");
    await page.getByRole("button", { name: "Pause everything" }).click();
    await page
      .getByRole("row", { name: /ledger/ })
      .getByText("paused", { exact: true })
      .waitFor();
    expect((await bench.run(["call", "ledger", "read", "--json"])).json).toMatchObject({
      code: "server_paused",
    });
    await page.getByRole("button", { name: "Resume everything" }).click();
    await page
      .getByRole("row", { name: /ledger/ })
      .getByText("paused", { exact: true })
      .waitFor({ state: "detached" });
  });

  it("can be read and used by everybody", async () => {
    const waiting = bench.run(["call", "ledger", "write", '{"text":"for axe"}', "--wait", "--json"]);
    const card = page.getByRole("article", { name: /for axe/ });
    await card.waitFor();
    for (const name of ["Approvals", "Servers", "Tools", "Activity"]) {
      await open(name);
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      await page.evaluate(axe);
      const violations = await page.evaluate(
        `axe.run(document).then((report) => report.violations.map((found) => found.id + ": " + found.nodes.map((node) => node.html).join(" ")))`,
      );
      expect([name, violations]).toEqual([name, []]);
    }
    await open("Approvals");
    await card.getByRole("button", { name: "Deny" }).focus();
    await page.keyboard.press("Enter");
    expect((await waiting).exitCode).toBe(3);
  });

  it("without the token it shows nothing", async () => {
    const stranger = await browser.newPage();
    await stranger.goto(link.split("#")[0] ?? "");
    const field = stranger.getByLabel("The link, or the token in it");
    const enter = stranger.getByRole("button", { name: "Open" });
    await field.waitFor();
    expect(await stranger.getByRole("table").count()).toBe(0);
    expect(await stranger.getByText("portcullis serve").count()).toBe(1);
    expect(await stranger.getByRole("alert").count()).toBe(0);
    // A wrong one is not kept either, and is told as such.
    await field.fill("wrong");
    await enter.click();
    await stranger.getByRole("alert").waitFor();
    expect(await stranger.getByRole("table").count()).toBe(0);
    await field.fill("keine Ahnung, é");
    expect(await enter.isDisabled()).toBe(true);
    await stranger.evaluate(axe);
    expect(
      await stranger.evaluate(
        "axe.run(document).then((report) => report.violations.map((found) => found.id))",
      ),
    ).toEqual([]);
    // The whole link is as good as the token in it.
    await field.fill(` ${link}\n`);
    await enter.click();
    await stranger.getByRole("heading", { name: "Approvals" }).waitFor();
    await stranger.close();
  });
});
