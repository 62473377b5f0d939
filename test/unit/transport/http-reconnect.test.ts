import { describe, expect, it } from "vitest";
import {
  nextReconnect,
  nextResume,
  type Reconnect,
  type StreamEnd,
} from "../../../src/transport/http-reconnect.ts";

const eof: StreamEnd = { kind: "ended", messages: 0, openForMs: 5 };

function delays(next: (failures: number) => Reconnect): (number | "never")[] {
  const seen: (number | "never")[] = [];
  for (let failures = 0; ;) {
    const step = next(failures);
    seen.push(step.kind === "never" ? "never" : step.delayMs);
    if (step.kind === "never" || seen.length > 20) return seen;
    failures = step.failures;
  }
}

describe("nextReconnect [FC-28]", () => {
  it.each<[string, StreamEnd, readonly (number | "never")[]]>([
    ["a stream that ends at once", eof, [1000, 2000, 4000, 8000, "never"]],
    ["a server that cannot be reached", { kind: "unreachable" }, [1000, 2000, 4000, 8000, "never"]],
    ["a server error", { kind: "refused", status: 500 }, [1000, 2000, 4000, 8000, "never"]],
    ["a short `retry` does not make it faster", { ...eof, retryMs: 10 }, [1000, 2000, 4000, 8000, "never"]],
    ["a long `retry` is kept [HTTPL-09]", { ...eof, retryMs: 5000 }, [5000, 5000, 5000, 8000, "never"]],
    ["an endless `retry` is bounded", { ...eof, retryMs: 1e12 }, [60_000, 60_000, 60_000, 60_000, "never"]],
    [
      "429 with a wait",
      { kind: "refused", status: 429, retryAfterMs: 3000 },
      [3000, 3000, 4000, 8000, "never"],
    ],
  ])("%s", (_title, end, expected) => {
    expect(delays((failures) => nextReconnect(end, failures, 0))).toEqual(expected);
  });

  it.each([405, 404, 204, 200, 301, 400, 401, 403, 501])("never again after %d [HTTPL-08]", (status) => {
    expect(nextReconnect({ kind: "refused", status }, 0, 0)).toEqual({ kind: "never" });
  });

  it("starts over after a real message, or after a minute of life", () => {
    expect(nextReconnect({ ...eof, messages: 1 }, 4, 0)).toEqual({
      kind: "wait",
      delayMs: 1000,
      failures: 1,
    });
    expect(nextReconnect({ ...eof, openForMs: 60_000 }, 4, 0)).toEqual({
      kind: "wait",
      delayMs: 1000,
      failures: 1,
    });
    expect(nextReconnect({ ...eof, openForMs: 59_999 }, 4, 0)).toEqual({ kind: "never" });
  });

  it("adds a quarter of jitter at most", () => {
    expect(nextReconnect(eof, 3, 0.999_999)).toMatchObject({ delayMs: 10_000 });
  });
});

describe("nextResume [HTTPL-09] [FC-30]", () => {
  it.each<[string, StreamEnd, readonly (number | "never")[]]>([
    ["keeps to `retry` exactly", { ...eof, retryMs: 500 }, [500, 500, 500, 500, "never"]],
    ["also where it is 0, and is bounded all the same", { ...eof, retryMs: 0 }, [0, 0, 0, 0, "never"]],
    ["bounds a long one", { ...eof, retryMs: 1e9 }, [60_000, 60_000, 60_000, 60_000, "never"]],
    ["takes a second where none was named", eof, [1000, 1000, 1000, 1000, "never"]],
    ["goes on after a server error", { kind: "refused", status: 503 }, [1000, 1000, 1000, 1000, "never"]],
    ["gives up where GET is refused", { kind: "refused", status: 405 }, ["never"]],
    ["gives up where the answer is no stream", { kind: "refused", status: 200 }, ["never"]],
  ])("%s", (_title, end, expected) => {
    expect(delays((failures) => nextResume(end, failures))).toEqual(expected);
  });

  it("starts over after a real message", () => {
    expect(nextResume({ ...eof, messages: 2, retryMs: 5 }, 4)).toEqual({
      kind: "wait",
      delayMs: 5,
      failures: 1,
    });
  });
});
