/**
 * A guide read as a program: its configuration is written, its commands are run one after another as they stand, what it quotes
 * must have been printed. In a folder, home and state of its own; `npx portcullis` is the program of this repository.
 *
 * Marks in the text: a block that begins with `// portcullis.json` becomes that file and is trusted. Behind a command,
 * `# exit code N` says how it ends and `# waits`, `# leave it running` that it goes on in the background. `ID` and `CALL` stand for
 * the last ones that were shown.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Block {
  /** `sh`, `jsonc`, `text`, `ts`, … */
  readonly language: string;
  readonly text: string;
  /** The region of an example that it shows: `examples/agent.ts#open`. */
  readonly region: string | null;
}

/** The fenced blocks of a guide, in order. */
export function blocksOf(guide: string): readonly Block[] {
  const text = readFileSync(join(root, "docs/guides", guide), "utf8");
  const shape = /(?:<!-- (\S+#\S+) -->\n)?```(\w+)\n([\s\S]*?)```/g;
  return [...text.matchAll(shape)].map(([, region, language = "", body = ""]) => ({
    language,
    text: body,
    region: region ?? null,
  }));
}

/** The text between `#region NAME` and `#endregion` of an example. */
export function regionOf(reference: string): string {
  const [file = "", name = ""] = reference.split("#");
  const source = readFileSync(join(root, file), "utf8");
  const body = new RegExp(`^// #region ${name}\\n([\\s\\S]*?)^// #endregion`, "m").exec(source)?.[1];
  if (body === undefined) throw new Error(`there is no region ${reference}`);
  return body;
}

interface Command {
  readonly line: string;
  readonly exitCode: number;
  /** What it says when it has got as far as the guide goes on. */
  readonly goesOnAfter: string | null;
}

function readCommand(line: string): Command {
  const goesOnAfter = line.endsWith("# waits")
    ? "waits for an answer"
    : line.endsWith("# leave it running")
      ? "In another terminal"
      : null;
  return {
    line: line.replace(/ +# .*$/, ""),
    exitCode: Number(/# exit code (\d+)$/.exec(line)?.[1] ?? 0),
    goesOnAfter,
  };
}

export interface GuideRun {
  readonly dir: string;
  /** Everything that was printed so far, both streams. */
  output(): string;
  /** Runs the commands of a block. @throws Error where one ends otherwise than the guide says. */
  commands(block: string): Promise<void>;
  writeConfig(text: string): Promise<void>;
  /** Runs one line and gives what it printed on standard output. */
  run(line: string, exitCode?: number): Promise<string>;
  /** Ends what was left running. */
  end(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly command: Command;
  readonly ended: Promise<number | null>;
}

/** @param more further variables of its commands. */
export function createGuideRun(more: Readonly<Record<string, string>> = {}): GuideRun {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-guide-"));
  const home = mkdtempSync(join(tmpdir(), "portcullis-home-"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "npx"),
    `#!/bin/sh\n[ "$1" = portcullis ] || exit 127\nshift\nexec ${process.execPath} ${join(root, "bin/portcullis.mjs")} "$@"\n`,
  );
  chmodSync(join(bin, "npx"), 0o755);
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  writeFileSync(join(dir, "list.txt"), "Buy milk.\n");

  let output = "";
  const running: Running[] = [];

  const start = (command: Command, onStdout: (text: string) => void, onText: () => void): Running => {
    const child = spawn("/bin/sh", ["-c", `exec ${fillIn(command.line, output)}`], {
      cwd: dir,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: `${bin}:${join(root, "node_modules/.bin")}:/usr/bin:/bin`, HOME: home, ...more },
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (stream === child.stdout) onStdout(text);
        onText();
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { child, command, ended };
  };

  const expectEnd = async ({ command, ended }: Running, before: number): Promise<void> => {
    const exitCode = await ended;
    if (exitCode !== command.exitCode)
      throw new Error(`\`${command.line}\` ended with ${exitCode}:\n${output.slice(before)}`);
  };

  const runCommand = async (command: Command): Promise<string> => {
    const before = output.length;
    let stdout = "";
    await expectEnd(
      start(
        command,
        (text) => (stdout += text),
        () => {},
      ),
      before,
    );
    return stdout;
  };

  const startInBackground = async (command: Command): Promise<void> => {
    const before = output.length;
    await new Promise<void>((resolve, reject) => {
      const one = start(
        command,
        () => {},
        () => {
          if (output.slice(before).includes(command.goesOnAfter ?? "")) resolve();
        },
      );
      running.push(one);
      void one.ended.then((code) => reject(new Error(`\`${command.line}\` ended with ${code}:\n${output}`)));
    });
  };

  const run = async (line: string, exitCode = 0): Promise<string> =>
    runCommand({ line, exitCode, goesOnAfter: null });

  return {
    dir,
    output: () => output,
    run,
    async commands(block) {
      const lines = block.split("\n").filter((line) => line !== "");
      for (const command of lines.map(readCommand)) {
        if (command.goesOnAfter === null) await runCommand(command);
        else await startInBackground(command);
      }
      // What waited has been answered by the end of its block.
      const waiting = running.filter(({ command }) => command.goesOnAfter === "waits for an answer");
      for (const one of waiting) {
        await expectEnd(one, 0);
        running.splice(running.indexOf(one), 1);
      }
    },
    async writeConfig(text) {
      // A free port, and nothing else, is not as the guide has it.
      const gateway = `"gateway": { "listen": "127.0.0.1:0" },`;
      writeFileSync(join(dir, "portcullis.json"), text.replace("{", `{ ${gateway}`));
      await run("npx portcullis trust");
    },
    async end() {
      for (const { child, ended } of running.splice(0)) {
        child.kill("SIGTERM");
        await ended;
      }
      rmSync(dir, { recursive: true, force: true });
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The ids of approvals, grants and calls, as people would copy them from what was shown last. */
function fillIn(line: string, shown: string): string {
  const lastOf = (shape: RegExp): string => [...shown.matchAll(shape)].at(-1)?.[1] ?? "nothing";
  return line
    .replace(/\bID\b/, lastOf(/(?:^|[ `])([0-9a-f]{10})(?=[ :`])/gm))
    .replace(/\bCALL\b/, lastOf(/, ([\w-]{20})\)/g));
}

/** Whether every line of `quoted` stands somewhere in `printed`, in this order; runs of blanks count as one. */
export function missingFrom(printed: string, quoted: string): string | undefined {
  const even = (text: string): string => text.replaceAll(/[ \t]+/g, " ").trim();
  let rest = printed.split("\n").map(even);
  return quoted.split("\n").find((line) => {
    if (line.trim() === "") return false;
    const at = rest.findIndex((one) => one.includes(even(line)));
    rest = rest.slice(at + 1);
    return at < 0;
  });
}
