/** Stderr by the line, for who watches it: bounded in length and in rate, with control characters made visible. */
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../base/clock.ts";
import { cleanForPerson } from "../text/clean.ts";

const MAX_LINE_LENGTH = 4_096;
const BURST_LINES = 200;
const LINES_PER_SECOND = 100;

/** @returns the function that takes the next bytes. A last line without its newline is not passed on. */
export function createStderrLines(clock: Clock, onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let held = "";
  let room = BURST_LINES;
  let filledAt = clock.monotonic();
  let leftOut = 0;

  const pass = (line: string): void => {
    const now = clock.monotonic();
    room = Math.min(BURST_LINES, room + ((now - filledAt) / 1_000) * LINES_PER_SECOND);
    filledAt = now;
    if (room < 1) {
      leftOut += 1;
      return;
    }
    room -= 1;
    if (leftOut > 0) onLine(`[${leftOut} lines left out]`);
    leftOut = 0;
    onLine(cleanForPerson(line.replace(/\r+$/, "")));
  };

  /** `held` never grows beyond the cap: the rest of a long line is dropped as it comes. */
  const hold = (text: string): string => (held + text.slice(0, MAX_LINE_LENGTH)).slice(0, MAX_LINE_LENGTH);

  return (chunk) => {
    const text = decoder.write(chunk);
    let start = 0;
    for (let newline = text.indexOf("\n"); newline >= 0; newline = text.indexOf("\n", start)) {
      const line = hold(text.slice(start, newline));
      held = "";
      start = newline + 1;
      if (line.trim() !== "") pass(line);
    }
    held = hold(text.slice(start));
  };
}
