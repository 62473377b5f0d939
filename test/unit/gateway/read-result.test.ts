import { describe, expect, it } from "vitest";
import { toGetPromptResult, toReadError, toReadResourceResult } from "../../../src/gateway/read-result.ts";
import type { ReadOutcome } from "../../../src/host/read-outcome.ts";
import type { ContentBlock } from "../../../src/protocol/types.ts";
import type { Era } from "../../../src/protocol/revisions.ts";
import type { Finding } from "../../../src/vocabulary.ts";

const URI = "portcullis://s/note://a";
const HIGH: Finding = { rule: "inject", severity: "high", where: "x", message: "m" };
const facts = { _meta: { "portcullis/outcome": { callId: "c1", outcome: "completed", code: null } } };

function outcome(more: Partial<ReadOutcome> = {}): ReadOutcome {
  return {
    callId: "c1",
    server: "s",
    outcome: "completed",
    code: null,
    rpcCode: null,
    message: "read",
    content: [],
    model: "the model's channel",
    findings: [],
    durationMs: 1,
    ...more,
  };
}

const data = (blob: Buffer, mimeType?: string): ContentBlock => ({
  type: "resource",
  resource: {
    uri: "note://b",
    blob: blob.toString("base64"),
    ...(mimeType === undefined ? {} : { mimeType }),
  },
});
const BINARY = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]);
const text = { uri: URI, mimeType: "text/plain", text: "the model's channel" };

describe("toReadResourceResult", () => {
  it.each<[string, ContentBlock, string | null]>([
    ["a picture as what it is", data(BINARY, "image/png"), "image/png"],
    ["data of no type as bytes", data(BINARY), "application/octet-stream"],
    ["bytes that claim to be text as bytes", data(BINARY, "text/html"), "application/octet-stream"],
    ["text that comes as data not at all", data(Buffer.from("go there"), "image/png"), null],
    ["bytes with a zero, which are no text", data(Buffer.from("a\0b"), "application/zip"), "application/zip"],
    ["text not again", { type: "resource", resource: { uri: "note://b", text: "raw" } }, null],
  ])("passes on %s", (_name, block, mimeType) => {
    const { contents } = toReadResourceResult(URI, outcome({ content: [block] }), "block");
    const passed =
      mimeType === null
        ? []
        : [expect.objectContaining({ uri: "portcullis://s/note://b", mimeType, blob: expect.any(String) })];
    expect(contents).toEqual([...passed, text]);
  });

  it("passes nothing on beside the text where findings hold it back, unless the entry only marks them", () => {
    const held = outcome({ content: [data(BINARY, "image/png")], findings: [HIGH] });
    expect(toReadResourceResult(URI, held, "block")).toEqual({ contents: [text], ...facts });
    expect(toReadResourceResult(URI, held, "mark")["contents"]).toHaveLength(2);
  });
});

it("toGetPromptResult: one text of the user's, then pictures and sounds", () => {
  const content: ContentBlock[] = [
    { type: "text", text: "raw" },
    { type: "image", data: "AAAA", mimeType: "image/png", _meta: { secret: 1 } },
    { type: "resource_link", uri: "note://b", name: "b" },
  ];
  expect(toGetPromptResult(outcome({ content }), "block")).toEqual({
    messages: [
      { role: "user", content: { type: "text", text: "the model's channel" } },
      { role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
    ],
    ...facts,
  });
});

describe("toReadError", () => {
  it.each<[string, number | null, string | undefined, Era, number]>([
    ["a URI that is not there, by an older server", -32002, URI, "modern", -32602],
    ["a URI that is not there, by a newer server", -32602, URI, "legacy", -32002],
    ["a prompt that is not there", -32602, undefined, "legacy", -32602],
    ["any other error of the server", -32603, URI, "modern", -32603],
    ["what no server said", null, URI, "modern", -32603],
  ])("%s", (_name, rpcCode, uri, era, code) => {
    const failed = outcome({ outcome: "protocol_error", code: "remote_error", rpcCode });
    const error = toReadError(failed, era, uri);
    expect(error).toMatchObject({ code, message: "the model's channel" });
    expect(Object.hasOwn(error.data as object, "uri")).toBe(code !== -32603 && uri !== undefined);
  });
});
