/**
 * Server-sent events as a pure state machine: bytes in, events out, nothing lost at any split (WHATWG HTML §9.2.6).
 * Linear in its input: each byte is looked at once, pieces of an unfinished line wait in a list. An event beyond the
 * cap is an error, so a stream without line ends costs the cap and no more.
 */
import { PortcullisError } from "../errors.ts";

export interface SseEvent {
  /** `message` where the stream named none. */
  readonly type: string;
  /** The lines of `data:` joined by newlines; may be empty (a priming event). */
  readonly data: string;
}

export interface SseParser {
  /** The events that `chunk` completed. @throws PortcullisError `message_too_large`; the parser is then of no further use. */
  push(chunk: Uint8Array): SseEvent[];
  /** The last `id:` that was dispatched, or `undefined` where none came yet. Empty where the stream reset it. */
  lastEventId(): string | undefined;
  /** The last `retry:` in milliseconds, as the stream sent it. */
  retryMs(): number | undefined;
}

/** @param maxEventBytes cap on one event and on one line, counted in characters of the decoded text. */
export function createSseParser(maxEventBytes: number): SseParser {
  const decoder = new TextDecoder("utf-8");
  let linePieces: string[] = [];
  let lineLength = 0;
  let swallowsLineFeed = false;
  let dataLines: string[] | undefined;
  let dataLength = 0;
  let type = "";
  let pendingId: string | undefined;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;

  const demandRoom = (): void => {
    if (lineLength + dataLength <= maxEventBytes) return;
    throw new PortcullisError(
      "message_too_large",
      `an event of the stream is larger than ${maxEventBytes} bytes`,
      {
        data: { maxBytes: maxEventBytes },
      },
    );
  };

  const dispatch = (): SseEvent | undefined => {
    lastEventId = pendingId;
    const event =
      dataLines === undefined
        ? undefined
        : { type: type === "" ? "message" : type, data: dataLines.join("\n") };
    dataLines = undefined;
    dataLength = 0;
    type = "";
    return event;
  };

  const field = (line: string): void => {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    switch (name) {
      case "data":
        dataLines ??= [];
        dataLines.push(value);
        dataLength += value.length + 1;
        return;
      case "event":
        type = value;
        return;
      case "id":
        if (!value.includes("\0")) pendingId = value;
        return;
      case "retry":
        if (/^\d+$/.test(value)) retryMs = Math.min(Number(value), Number.MAX_SAFE_INTEGER);
        return;
    }
  };

  const endLine = (rest: string, events: SseEvent[]): void => {
    const line = linePieces.length === 0 ? rest : linePieces.join("") + rest;
    linePieces = [];
    lineLength = 0;
    if (line !== "") {
      field(line);
      demandRoom();
      return;
    }
    const event = dispatch();
    if (event !== undefined) events.push(event);
  };

  return {
    push(chunk) {
      const events: SseEvent[] = [];
      const text = decoder.decode(chunk, { stream: true });
      let start = 0;
      let nextLf = -2;
      let nextCr = -2;
      for (;;) {
        if (swallowsLineFeed && start < text.length) {
          swallowsLineFeed = false;
          if (text[start] === "\n") start += 1;
        }
        // Each search goes on from where the last hit of its kind was, so the text is searched once.
        if (nextLf !== -1 && nextLf < start) nextLf = text.indexOf("\n", start);
        if (nextCr !== -1 && nextCr < start) nextCr = text.indexOf("\r", start);
        const end = nextLf < 0 ? nextCr : nextCr < 0 ? nextLf : Math.min(nextLf, nextCr);
        if (end < 0) break;
        lineLength += end - start;
        demandRoom();
        endLine(text.slice(start, end), events);
        swallowsLineFeed = end === nextCr;
        start = end + 1;
      }
      if (start < text.length) {
        linePieces.push(text.slice(start));
        lineLength += text.length - start;
        demandRoom();
      }
      return events;
    },
    lastEventId: () => lastEventId,
    retryMs: () => retryMs,
  };
}
