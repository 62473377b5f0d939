import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyInitialize, classifyProbe, type HandshakeAnswer } from "../../src/wire/era.ts";
import { decodeHeaderValue, encodeHeaderValue } from "../../src/wire/headers.ts";
import { readHeaderPlan } from "../../src/wire/header-plan.ts";
import { classifyMessage } from "../../src/wire/jsonrpc.ts";
import { cleanPage } from "../../src/wire/list.ts";
import { readDiscoverResult, readModernResult } from "../../src/wire/modern.ts";
import { readInitializeResult } from "../../src/wire/legacy.ts";
import { nextLegParams, readLeg } from "../../src/wire/mrtr.ts";
import {
  covers,
  intersectFilters,
  unionFilters,
  type SubscriptionFact,
} from "../../src/wire/subscriptions.ts";
import { readTask } from "../../src/wire/tasks.ts";
import type { JsonObject } from "../../src/base/json.ts";

const wellFormed = fc.string({ unit: "grapheme", maxLength: 60 }).filter((text) => text.isWellFormed());
const nasty = fc.oneof(
  wellFormed,
  fc.string({ unit: "binary-ascii", maxLength: 40 }),
  wellFormed.map((text) => `=?base64?${text}?=`),
  wellFormed.map((text) => ` ${text}\r\n`),
);

describe("header values", () => {
  it("come back as they went, and never hold a line break or a byte outside ASCII [HTTP-19] [HTTP-20]", () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const header = encodeHeaderValue(text);
        expect(header).toMatch(/^[\x20-\x7e\t]*$/);
        expect(header).toBe(header.trim());
        expect(decodeHeaderValue(header)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("of a stranger are decoded or refused, never thrown at", () => {
    fc.assert(fc.property(fc.string(), (value) => void decodeHeaderValue(`=?base64?${value}?=`)));
  });
});

const versions = fc.array(fc.constantFrom("2026-07-28", "2025-11-25", "2024-11-05", "2030-01-01", ""), {
  maxLength: 3,
});
const status = fc.option(fc.constantFrom(200, 202, 302, 400, 401, 403, 404, 405, 429, 500, 503), {
  nil: undefined,
});
const code = fc.oneof(fc.constantFrom(-32020, -32021, -32022, -32601, -32602, -32000, -32001), fc.integer());
const answer: fc.Arbitrary<HandshakeAnswer> = fc.oneof(
  fc.record({ kind: fc.constant("discovered" as const), versions }),
  fc.record({
    kind: fc.constant("agreed" as const),
    revision: fc.constantFrom("2025-11-25" as const, "2024-11-05" as const),
  }),
  fc.record({ kind: fc.constant("mismatch" as const), version: fc.option(fc.string()) }),
  fc.record({ kind: fc.constant("rpc-error" as const), code, supported: versions, status: fc.constant(200) }),
  fc.tuple(code, status).map(([value, of]) => ({
    kind: "rpc-error" as const,
    code: value,
    ...(of === undefined ? {} : { status: of }),
  })),
  status.map((of) => ({ kind: "unreadable" as const, ...(of === undefined ? {} : { status: of }) })),
  fc.constantFrom({ kind: "timed-out" as const }, { kind: "closed" as const }, { kind: "failed" as const }),
);
const channel = fc.constantFrom("stream" as const, "http" as const);

describe("era classifier", () => {
  it("answers everything, and never takes modern evidence for legacy without a version to offer [VER-05] [VER-11]", () => {
    fc.assert(
      fc.property(answer, channel, fc.boolean(), (given, on, isSecond) => {
        const verdict = classifyProbe(given, { channel: on, asked: "2026-07-28", isSecond });
        if (isSecond) expect(verdict.kind).not.toBe("ask-again");
        if (given.kind === "timed-out" && verdict.kind === "legacy") expect(verdict.isCertain).toBe(false);
        const isEvidence = given.kind === "rpc-error" && given.code <= -32020 && given.code >= -32022;
        if (isEvidence && verdict.kind === "legacy") expect(given.supported).toContain(verdict.revision);
        if (on === "http" && "status" in given && (given.status === 401 || given.status === 403))
          expect(verdict.kind).toBe("auth");
      }),
      { numRuns: 2_000 },
    );
  });

  it("never asks twice for the same thing", () => {
    fc.assert(
      fc.property(
        answer,
        channel,
        fc.constantFrom("none" as const, "late-discover" as const, "unknown-method" as const),
        (given, on, doubt) => {
          const verdict = classifyInitialize(given, {
            channel: on,
            offered: "2025-11-25",
            isSecond: true,
            doubt,
          });
          expect(verdict.kind).not.toBe("ask-again");
        },
      ),
    );
  });
});

describe("readers of a stranger's JSON", () => {
  it("never throw", () => {
    const object = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom(
          "jsonrpc",
          "id",
          "method",
          "params",
          "result",
          "error",
          "resultType",
          "tools",
          "inputRequests",
          "requestState",
          "taskId",
          "status",
          "properties",
          "x-mcp-header",
          "__proto__",
        ),
        fc.jsonValue(),
      ),
    );
    fc.assert(
      fc.property(object, (value) => {
        classifyMessage(value);
        if (typeof value !== "object" || value === null || Array.isArray(value)) return;
        const given = value as JsonObject;
        readModernResult("tools/call", given, true);
        readDiscoverResult(given);
        readInitializeResult(given);
        readTask(given);
        readLeg(given);
        readHeaderPlan(given);
        cleanPage("tools", given, { seen: new Set(), room: 10 });
      }),
      { numRuns: 1_000 },
    );
  });

  it("give the state of a round back byte for byte [MRTR-02]", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (state) => {
        const sent = JSON.parse(
          JSON.stringify(nextLegParams({ name: "t" }, { requestState: state })),
        ) as JsonObject;
        expect(readLeg(sent)?.requestState).toBe(state);
      }),
    );
  });
});

describe("filters", () => {
  const filter = fc.record(
    {
      toolsListChanged: fc.constant(true),
      promptsListChanged: fc.constant(true),
      resourceSubscriptions: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }),
    },
    { requiredKeys: [] },
  );
  const fact: fc.Arbitrary<SubscriptionFact> = fc.oneof(
    fc
      .constantFrom("tools" as const, "prompts" as const, "resources" as const)
      .map((list) => ({ kind: "list_changed" as const, list })),
    fc.constantFrom("a", "b", "c").map((uri) => ({ kind: "resource_updated" as const, uri })),
  );

  it("cover together what one of them covers, and in common what both do", () => {
    fc.assert(
      fc.property(filter, filter, fact, (one, other, told) => {
        expect(covers(unionFilters([one, other]), told)).toBe(covers(one, told) || covers(other, told));
        expect(covers(intersectFilters(one, other), told)).toBe(covers(one, told) && covers(other, told));
      }),
    );
  });
});
