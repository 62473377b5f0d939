import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfigProblem } from "../../../src/config/compiled.ts";
import { loadConfig, loadLocated, type LoadOptions } from "../../../src/config/load.ts";
import { PortcullisError } from "../../../src/errors.ts";

let folder = "";
let options: LoadOptions;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "portcullis-load-")));
  options = { cwd: folder, env: {}, homeDir: join(folder, "home"), platform: "linux" };
});
afterEach(() => rm(folder, { recursive: true }));

const write = async (text: string, name = "portcullis.json"): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
};

async function problemsOf(
  text: string,
): Promise<{ error: PortcullisError; problems: readonly ConfigProblem[] }> {
  await write(text);
  const error: unknown = await loadConfig(options).catch((reason: unknown) => reason);
  if (!(error instanceof PortcullisError)) throw new Error("it loaded");
  return { error, problems: error.data["problems"] as readonly ConfigProblem[] };
}

describe("loadConfig", () => {
  it("compiles a discovered file, and says that it has to be trusted", async () => {
    const text = '{ "mcpServers": { "a": { "command": "./x", }, } } // end';
    const file = await write(text);
    const { config, trustNeeded } = await loadConfig(options);
    const digest = createHash("sha256").update(text).digest("hex");
    expect(config.file).toBe(file);
    expect(config.digest).toBe(digest);
    expect(config.stateDir).toMatch(/home\/\.local\/state\/portcullis\/portcullis-load-.*-[0-9a-f]{16}$/);
    expect(config.servers.get("a")?.launch).toMatchObject({
      command: { template: join(folder, "x") },
      cwd: folder,
    });
    expect(trustNeeded).toEqual({ file, digest, stateDir: config.stateDir });
  });

  it("takes a named file as consent, and `--state` before everything", async () => {
    await write('{ "store": "/elsewhere" }', "mine.json");
    const loaded = await loadConfig({ ...options, file: "mine.json", stateDir: "state" });
    expect(loaded.trustNeeded).toBeNull();
    expect(loaded.config.stateDir).toBe(join(folder, "state"));
  });

  it("looks for trust where the file itself has no say", async () => {
    await write('{ "store": "/elsewhere" }');
    const { config, trustNeeded } = await loadConfig(options);
    expect(config.stateDir).toBe("/elsewhere");
    expect(trustNeeded?.stateDir).toContain("/home/.local/state/portcullis/");
  });

  it("names file, line, column, path and the fix, for every problem, in the order of the file", async () => {
    const { error, problems } = await problemsOf(
      [
        "{",
        "  // servers",
        '  "mcpServers": {',
        '    "a": {',
        '      "comand": "x",',
        '      "tools": { "t": "L9" }',
        "    }",
        "  },",
        '  "lgo": {}',
        "}",
      ].join("\n"),
    );
    const file = join(folder, "portcullis.json");
    expect(problems).toEqual([
      {
        file,
        line: 5,
        column: 7,
        path: "mcpServers.a.comand",
        message: "unknown key `comand`; did you mean `command`?",
      },
      {
        file,
        line: 6,
        column: 23,
        path: "mcpServers.a.tools.t",
        message: 'expected a grade (`L0`, `L1`, `L2`, `L3`, `off`) or an object with `grade`, got `"L9"`',
      },
      { file, line: 9, column: 3, path: "lgo", message: "unknown key `lgo`; did you mean `log`?" },
    ]);
    expect(error.code).toBe("config_invalid");
    expect(error.message.split("\n")).toHaveLength(3);
    expect(error.message).toContain(`${file}:5:7: mcpServers.a.comand: unknown key`);
  });

  it("says of a number beyond all numbers where it stands, and what to do", async () => {
    const { error } = await problemsOf(
      '{"mcpServers":{"a":{"command":"x","rollout":{"percent":1e400},"limits":{"concurrency":-1e999}}}}',
    );
    expect(error.message.split("\n")).toEqual([
      expect.stringMatching(
        /portcullis\.json:1:56: mcpServers\.a\.rollout\.percent: is larger than any number can be: write one nearer to zero$/,
      ),
      expect.stringMatching(
        /limits\.concurrency: is smaller than any number can be: write one nearer to zero$/,
      ),
    ]);
  });

  it("reports all errors of syntax, with their places", async () => {
    const { problems } = await problemsOf('{\n  "a" 1,\n  b: 2\n}');
    expect(problems.map(({ line }) => line)).toContain(2);
    expect(problems.map(({ line }) => line)).toContain(3);
  });

  it("places problems found while compiling, and warnings", async () => {
    const { problems } = await problemsOf(
      '{\n  "mcpServers": {\n    "a": { "command": "x",\n      "url": "https://y" }\n  }\n}',
    );
    expect(problems).toMatchObject([{ line: 4, column: 7, path: "mcpServers.a.url" }]);
    await write('{ "mcpServers": { "a": { "command": "x",\n "tools": { "r*": "L0" } } } }');
    expect((await loadConfig(options)).config.warnings).toMatchObject([{ line: 2, column: 19 }]);
  });

  it("says `config_not_yet` with the place", async () => {
    const { error, problems } = await problemsOf('{\n  "egress": { "proxy": "http://p:1" }\n}');
    expect(error.code).toBe("config_not_yet");
    expect(problems).toMatchObject([
      { line: 2, column: 15, message: "`egress.proxy` is not implemented yet: remove it" },
    ]);
  });

  it("refuses state inside a checkout, unless `--state` says so", async () => {
    await mkdir(join(folder, "repo/.git"), { recursive: true });
    await write(JSON.stringify({ store: join(folder, "repo/state") }));
    await expect(loadConfig(options)).rejects.toThrow(/inside the checkout/);
    await write("{}");
    await expect(loadConfig({ ...options, env: { XDG_STATE_HOME: join(folder, "repo") } })).rejects.toThrow(
      /inside the checkout/,
    );
    expect((await loadConfig({ ...options, stateDir: join(folder, "repo/state") })).config.stateDir).toBe(
      join(folder, "repo/state"),
    );
  });

  it("warns about a file that everybody can change", async () => {
    const file = await write("{}");
    await chmod(file, 0o666);
    expect((await loadConfig(options)).config.warnings[0]?.message).toContain("chmod o-w");
  });

  it("refuses a file that is too large without reading all of it", async () => {
    await write(" ".repeat(2_000_000));
    await expect(loadConfig(options)).rejects.toThrow(/larger than/);
  });
});

describe("what is named and is no file", () => {
  it.each<[string, (path: string) => unknown, RegExp]>([
    [
      "a folder",
      (path) => mkdir(path),
      /` is a folder and no file: name the file in it, `.*named\/portcullis\.json`$/,
    ],
    ["a pipe that nobody writes to", (path) => execFileSync("mkfifo", [path]), /` is a pipe and no file$/],
    ["a device", (path) => symlink("/dev/null", path), /` is a device and no file$/],
    [
      "a link to itself",
      (path) => symlink(path, path),
      /cannot be read \(ELOOP\): it is a link that leads to itself$/,
    ],
  ])("%s is told as what it is, at once", async (_name, make, message) => {
    const path = join(folder, "named");
    await make(path);
    const refusal = loadConfig({ ...options, file: path });
    await expect(refusal).rejects.toMatchObject({
      code: "config_not_found",
      message: expect.stringMatching(message),
    });
    if (message.source.includes("pipe"))
      await expect(loadLocated(path, false, options)).rejects.toThrow("is a pipe and no file");
  });

  it("is not passed over where it would be found", async () => {
    await mkdir(join(folder, "portcullis.json"));
    await expect(loadConfig(options)).rejects.toThrow("is a folder and no file");
  });
});
