/** The admin API: operations by name, and what happens as it happens. No rules here: what is shown is what the operations answer. */
import type { HostEvent } from "../../src/telemetry/events.ts";

export class ApiError extends Error {
  readonly code: string;
  readonly help: string;
  constructor(code: string, message: string, help: string) {
    super(message);
    this.code = code;
    this.help = help;
  }
}

export interface Api {
  /** @throws ApiError with the code of the error table; `unauthorized` where the token is not taken. */
  run<Output>(operation: string, input?: object): Promise<Output>;
  /** Reads events until `signal` aborts; connects again by itself. */
  listen(
    onEvent: (event: HostEvent) => void,
    onState: (isLive: boolean) => void,
    signal: AbortSignal,
  ): Promise<void>;
}

/** @param onUnauthorized told when the token is not taken (any more). */
export function createApi(token: string, onUnauthorized: () => void): Api {
  const headers = { authorization: `Bearer ${token}` };
  return {
    async run<Output>(operation: string, input: object = {}): Promise<Output> {
      const response = await fetch(`/api/operations/${operation}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(input),
      });
      if (response.status === 401) {
        onUnauthorized();
        throw new ApiError(
          "unauthorized",
          "the link is no longer valid",
          "Open the link that `portcullis serve` prints.",
        );
      }
      const document = (await response.json()) as Output & {
        error?: { code: string; message: string; help: string };
      };
      if (response.ok) return document;
      const error = document.error ?? { code: "internal", message: `status ${response.status}`, help: "" };
      throw new ApiError(error.code, error.message, error.help);
    },
    async listen(onEvent, onState, signal) {
      while (!signal.aborted) {
        try {
          const response = await fetch("/api/events", { headers, signal });
          if (response.status === 401) onUnauthorized();
          if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
          onState(true);
          for await (const data of readData(response.body)) onEvent(JSON.parse(data) as HostEvent);
        } catch {
          // The gateway is away; it is tried again below.
        }
        if (signal.aborted) return;
        onState(false);
        await pause(AGAIN_MS, signal);
      }
    },
  };
}

const AGAIN_MS = 1_000;

/** Ends early, and leaves no timer, where `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** The data of each server-sent event. */
async function* readData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart());
      if (data.length > 0) yield data.join("\n");
    }
  }
}
