/** The tables of the era classifier, one test per row. */
import { describe, expect, it } from "vitest";
import {
  classifyInitialize,
  classifyProbe,
  type HandshakeAnswer,
  type InitializeContext,
  type ProbeContext,
} from "../../../src/wire/era.ts";

type Row<Context> = readonly [
  name: string,
  answer: HandshakeAnswer,
  context: Partial<Context>,
  verdict: object,
];

const MODERN = "2026-07-28";
const legacy = (more: object = {}): object => ({
  kind: "legacy",
  revision: "2025-11-25",
  isCertain: true,
  doubt: "none",
  needsFreshStart: false,
  ...more,
});
const rpc = (
  code: number,
  more: { supported?: readonly string[]; status?: number } = {},
): HandshakeAnswer => ({ kind: "rpc-error", code, ...more });
const http = { channel: "http" } as const;

const probeRows: readonly Row<ProbeContext>[] = [
  // What a DiscoverResult says. [VER-04]
  [
    "a modern version is modern",
    { kind: "discovered", versions: [MODERN] },
    {},
    { kind: "modern", revision: MODERN },
  ],
  [
    "modern is taken before legacy",
    { kind: "discovered", versions: ["2025-11-25", MODERN] },
    {},
    { kind: "modern", revision: MODERN },
  ],
  [
    "only legacy versions in common: initialize with the newest",
    { kind: "discovered", versions: ["2025-03-26", "2025-06-18"] },
    {},
    legacy({ revision: "2025-06-18" }),
  ],
  [
    "nothing in common",
    { kind: "discovered", versions: ["2030-01-01"] },
    {},
    { kind: "incompatible", serverVersions: ["2030-01-01"] },
  ],
  [
    "the same over HTTP",
    { kind: "discovered", versions: [MODERN] },
    http,
    { kind: "modern", revision: MODERN },
  ],

  // -32022 [VER-02]
  [
    "-32022 with our version: ask again",
    rpc(-32022, { supported: [MODERN] }),
    {},
    { kind: "ask-again", revision: MODERN, why: "version" },
  ],
  [
    "-32022 with our version for the second time",
    rpc(-32022, { supported: [MODERN] }),
    { isSecond: true },
    { kind: "incompatible", serverVersions: [MODERN] },
  ],
  [
    "-32022 with legacy versions only: the server has both eras",
    rpc(-32022, { supported: ["2025-06-18"] }),
    {},
    legacy({ revision: "2025-06-18" }),
  ],
  [
    "-32022 with unknown versions",
    rpc(-32022, { supported: ["2030-01-01"] }),
    {},
    { kind: "incompatible", serverVersions: ["2030-01-01"] },
  ],
  ["-32022 without versions", rpc(-32022), {}, { kind: "incompatible", serverVersions: [] }],
  [
    "-32022 in a 400",
    rpc(-32022, { supported: [MODERN], status: 400 }),
    http,
    { kind: "ask-again", revision: MODERN, why: "version" },
  ],
  [
    "-32022 in a 200",
    rpc(-32022, { supported: [MODERN], status: 200 }),
    http,
    { kind: "ask-again", revision: MODERN, why: "version" },
  ],

  // -32020 and -32021 are modern and never lead to initialize. [VER-05] [VER-11]
  [
    "-32020: modern, corrected",
    rpc(-32020, { status: 400 }),
    http,
    { kind: "ask-again", revision: MODERN, why: "headers" },
  ],
  [
    "-32021: modern, corrected",
    rpc(-32021, { status: 400 }),
    http,
    { kind: "ask-again", revision: MODERN, why: "capability" },
  ],
  ["-32020 on a stream", rpc(-32020), {}, { kind: "ask-again", revision: MODERN, why: "headers" }],
  [
    "-32020 for the second time",
    rpc(-32020, { status: 400 }),
    { ...http, isSecond: true },
    { kind: "incompatible", serverVersions: [] },
  ],
  [
    "-32021 for the second time",
    rpc(-32021),
    { isSecond: true },
    { kind: "incompatible", serverVersions: [] },
  ],

  // Every other JSON-RPC error on a stream is legacy, whatever its code. [VER-06] [VER-07]
  ["-32601", rpc(-32601), {}, legacy()],
  ["-32602 is no modern evidence", rpc(-32602), {}, legacy()],
  ["-32600", rpc(-32600), {}, legacy()],
  ["-32000", rpc(-32000), {}, legacy()],
  ["-32001, the mismatch code of a draft, is no evidence", rpc(-32001), {}, legacy()],
  ["-32003 and -32004 of drafts neither", rpc(-32004), {}, legacy()],
  ["any own code", rpc(7), {}, legacy()],
  ["garbage", { kind: "unreadable" }, {}, legacy()],
  [
    "no answer in time: legacy, but not certain",
    { kind: "timed-out" },
    {},
    legacy({ isCertain: false, doubt: "late-discover" }),
  ],
  ["the process left because of the probe", { kind: "closed" }, {}, legacy({ needsFreshStart: true })],

  // HTTP: status and code together. [VER-10] [VER-12]
  ["400 with -32600", rpc(-32600, { status: 400 }), http, legacy()],
  ["400 with -32601", rpc(-32601, { status: 400 }), http, legacy()],
  ["400 with -32000", rpc(-32000, { status: 400 }), http, legacy()],
  ["200 with -32601", rpc(-32601, { status: 200 }), http, legacy()],
  [
    "404 with -32601: perhaps a modern server without discover [HTTP-38]",
    rpc(-32601, { status: 404 }),
    http,
    legacy({ doubt: "unknown-method" }),
  ],
  ["404 with another code", rpc(-32001, { status: 404 }), http, legacy()],
  ["400 without a body", { kind: "unreadable", status: 400 }, http, legacy()],
  ["404 without a body", { kind: "unreadable", status: 404 }, http, legacy()],
  ["405", { kind: "unreadable", status: 405 }, http, legacy()],
  ["406", { kind: "unreadable", status: 406 }, http, legacy()],
  ["415", { kind: "unreadable", status: 415 }, http, legacy()],
  ["422", { kind: "unreadable", status: 422 }, http, legacy()],
  ["an empty 200", { kind: "unreadable", status: 200 }, http, legacy()],
  ["401 is authorization, not evidence", { kind: "unreadable", status: 401 }, http, { kind: "auth" }],
  ["403 with a JSON-RPC error too", rpc(-32600, { status: 403 }), http, { kind: "auth" }],
  ["401 even with a modern code", rpc(-32022, { supported: [MODERN], status: 401 }), http, { kind: "auth" }],
  ["a redirect", { kind: "unreadable", status: 302 }, http, { kind: "error" }],
  ["408", { kind: "unreadable", status: 408 }, http, { kind: "error" }],
  ["429", { kind: "unreadable", status: 429 }, http, { kind: "error" }],
  ["500", { kind: "unreadable", status: 500 }, http, { kind: "error" }],
  ["503 with a JSON-RPC error", rpc(-32601, { status: 503 }), http, { kind: "error" }],
  ["no answer in time over HTTP is no evidence", { kind: "timed-out" }, http, { kind: "error" }],
  ["the network failed", { kind: "failed" }, http, { kind: "error" }],
  ["a broken exchange", { kind: "closed" }, http, { kind: "error" }],
];

describe("classifyProbe", () => {
  for (const [name, answer, context, verdict] of probeRows) {
    it(name, () => {
      expect(
        classifyProbe(answer, { channel: "stream", asked: MODERN, isSecond: false, ...context }),
      ).toEqual(verdict);
    });
  }
});

const incompatible = (serverVersions: readonly string[], maybeHttpSse = false): object => ({
  kind: "incompatible",
  serverVersions,
  maybeHttpSse,
});

const initializeRows: readonly Row<InitializeContext>[] = [
  ["our version", { kind: "agreed", revision: "2025-11-25" }, {}, { kind: "legacy", revision: "2025-11-25" }],
  [
    "another version of ours",
    { kind: "agreed", revision: "2024-11-05" },
    {},
    { kind: "legacy", revision: "2024-11-05" },
  ],
  [
    "a version that is not ours [VER-21]",
    { kind: "mismatch", version: "1999-01-01" },
    {},
    incompatible(["1999-01-01"]),
  ],
  [
    "a modern version is none for initialize",
    { kind: "mismatch", version: MODERN },
    {},
    incompatible([MODERN]),
  ],
  ["no version", { kind: "mismatch", version: null }, {}, incompatible([])],

  [
    "refused with other versions: one more try",
    rpc(-32602, { supported: ["2025-03-26"] }),
    {},
    { kind: "ask-again", revision: "2025-03-26" },
  ],
  [
    "refused with other versions for the second time",
    rpc(-32602, { supported: ["2024-11-05"] }),
    { isSecond: true, offered: "2025-03-26" },
    incompatible(["2024-11-05"]),
  ],
  [
    "refused with unknown versions",
    rpc(-32602, { supported: ["2030-01-01"] }),
    {},
    incompatible(["2030-01-01"]),
  ],
  ["refused with a modern version: probe", rpc(-32602, { supported: [MODERN] }), {}, { kind: "probe" }],
  ["-32022", rpc(-32022, { supported: [MODERN] }), {}, { kind: "probe" }],
  ["-32020: a remembered verdict is stale [VER-13]", rpc(-32020, { status: 400 }), http, { kind: "probe" }],
  ["-32601: initialize is gone", rpc(-32601), {}, { kind: "probe" }],
  [
    "404 with -32601 after a probe that met the same: modern without discover",
    rpc(-32601, { status: 404 }),
    { ...http, doubt: "unknown-method" },
    { kind: "modern", revision: MODERN, isInline: true },
  ],
  ["another error", rpc(-32603), {}, { kind: "error" }],

  [
    "refused, and a DiscoverResult came late",
    rpc(-32601),
    { doubt: "late-discover", lateVersions: [MODERN] },
    { kind: "modern", revision: MODERN, isInline: false },
  ],
  [
    "not answered, and a DiscoverResult came late",
    { kind: "timed-out" },
    { doubt: "late-discover", lateVersions: [MODERN] },
    { kind: "modern", revision: MODERN, isInline: false },
  ],
  [
    "agreed although a DiscoverResult came late",
    { kind: "agreed", revision: "2025-11-25" },
    { doubt: "late-discover", lateVersions: [MODERN] },
    { kind: "legacy", revision: "2025-11-25" },
  ],
  [
    "a late DiscoverResult without a modern version changes nothing",
    { kind: "timed-out" },
    { lateVersions: ["2025-11-25"] },
    { kind: "error" },
  ],

  [
    "a bare 400: once more with a version that is widely known",
    { kind: "unreadable", status: 400 },
    http,
    { kind: "ask-again", revision: "2025-06-18" },
  ],
  [
    "a bare 400 again: perhaps HTTP+SSE [VER-14]",
    { kind: "unreadable", status: 400 },
    { ...http, isSecond: true, offered: "2025-06-18" },
    incompatible([], true),
  ],
  ["404", { kind: "unreadable", status: 404 }, http, incompatible([], true)],
  ["405", { kind: "unreadable", status: 405 }, http, incompatible([], true)],
  ["406 is not a sign of HTTP+SSE", { kind: "unreadable", status: 406 }, http, { kind: "error" }],
  ["401", { kind: "unreadable", status: 401 }, http, { kind: "auth" }],
  ["500", { kind: "unreadable", status: 500 }, http, { kind: "error" }],
  ["no answer in time", { kind: "timed-out" }, {}, { kind: "error" }],
  ["the process left", { kind: "closed" }, {}, { kind: "error" }],
  ["garbage on a stream", { kind: "unreadable" }, {}, { kind: "error" }],
];

describe("classifyInitialize", () => {
  for (const [name, answer, context, verdict] of initializeRows) {
    it(name, () => {
      expect(
        classifyInitialize(answer, {
          channel: "stream",
          offered: "2025-11-25",
          isSecond: false,
          doubt: "none",
          ...context,
        }),
      ).toEqual(verdict);
    });
  }
});
