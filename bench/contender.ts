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

/** A server process of its own for each contender. */
export async function startHttpServer(): Promise<HttpServer> {
  const child = spawn(process.execPath, [join(SERVERS, "http.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const { promise, resolve } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).once("line", resolve);
  return { url: new URL(await promise), close: () => endChild(child) };
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
