/** The command line without `--config` and `--state`, in a folder and with a home of its own: as somebody types it in a checkout. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../bin/portcullis.mjs", import.meta.url));

export interface BareRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param input of standard input, which is never a terminal. */
export async function runBare(
  words: readonly string[],
  place: { readonly cwd: string; readonly home: string; readonly env?: Readonly<Record<string, string>> },
  input = "",
): Promise<BareRun> {
  const child = spawn(process.execPath, [CLI, ...words], {
    cwd: place.cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: place.home, ...place.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { exitCode, stdout, stderr };
}
