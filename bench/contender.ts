/** What is compared: a way of calling the tool `echo` of one of the bench's servers. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Connected {
  /** Calls a tool and gives the text of its answer back. */
  call(tool: string, args: Readonly<Record<string, string | number>>): Promise<string>;
  close(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  /** Ratios are to the floor of the same transport. */
  readonly transport: "stdio" | "http";
  readonly isFloor?: true;
  connect(): Promise<Connected>;
}

const SERVERS = join(import.meta.dirname, "servers");
export const STDIO_SERVER = join(SERVERS, "stdio.mjs");

export interface HttpServer {
  readonly url: URL;
  close(): Promise<void>;
}

/** A server process of its own for each contender. @param script in `bench/servers`. */
export async function startHttpServer(script = "http.mjs"): Promise<HttpServer> {
  const { line, close } = await startServer(script);
  return { url: new URL(line), close };
}

/** Starts a script of `bench/servers`. @returns the first line that it prints. */
export async function startServer(
  script: string,
  ...args: readonly string[]
): Promise<{ readonly line: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, [join(SERVERS, script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).once("line", resolve);
  child.once("exit", (code) => reject(new Error(`${script} ended with ${code} before it said a word`)));
  return { line: await promise, close: () => endChild(child) };
}

export async function endChild(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.stdin?.end();
  await promise;
}

/** The text of an answer's first content block; `undefined` where it has none. */
export function textOf(content: readonly object[]): string | undefined {
  const [block] = content;
  return block !== undefined && "text" in block && typeof block.text === "string" ? block.text : undefined;
}
