import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSeededRandom } from "../../src/base/random.ts";
import { atOnce } from "../../src/base/slices.ts";
import { createChannels } from "../../src/results/channels.ts";
import { intakeToolResult, type IntakeOptions } from "../../src/results/intake.ts";
import { renderForPerson } from "../../src/results/person.ts";
import {
  promptIntake,
  resourceIntake,
  type PromptIntake,
  type ResourceIntake,
} from "../../src/results/read.ts";

const TERMINAL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0001}-\u{e001f}]/u;

const anyString = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        "</",
        "<",
        "/",
        "untrusted",
        "UNTRUSTED",
        " ",
        ">",
        "0123456789abcdef",
        "\n",
        "\u200b",
        "＜",
        "／",
        "‹",
        "\x1b[8m",
        "\u202e",
        "\r",
        "un\u00adtrusted",
        "x",
      ),
      { maxLength: 14 },
    )
    .map((parts) => parts.join("")),
);

const anyJson = fc.jsonValue({ stringUnit: "binary", maxDepth: 4 });
const member = fc.oneof(anyString, anyJson);
const anyBlock = fc.oneof(
  fc.record({ type: fc.constant("text"), text: anyString }),
  fc.record(
    {
      type: fc.oneof(
        fc.constantFrom("text", "image", "audio", "resource_link", "resource", "hologram"),
        member,
      ),
      text: member,
      data: fc.oneof(fc.base64String(), member),
      mimeType: member,
      uri: fc.oneof(fc.webUrl(), anyString, member),
      name: member,
      title: member,
      description: member,
      size: member,
      annotations: member,
      _meta: member,
      resource: fc.oneof(
        fc.record({ uri: member, text: member, blob: member, mimeType: member }, { requiredKeys: [] }),
        member,
      ),
    },
    { requiredKeys: ["type"] },
  ),
  anyJson,
);
const anyResult = fc.oneof(
  fc.record(
    {
      content: fc.oneof(fc.array(anyBlock, { maxLength: 6 }), anyBlock),
      structuredContent: anyJson,
      isError: anyJson,
      _meta: anyJson,
    },
    { requiredKeys: [] },
  ),
  anyJson,
);

const channels = createChannels({ random: createSeededRandom(11) });
const options = { source: { server: "s", name: "t" }, channels, scan: "mark", restId: "r" } as const;

/** The one frame of a text for models: nothing inside looks like a mark, and nothing of the inside is outside. */
function expectClosed(model: string): void {
  const match =
    /^[^\n]*\n<untrusted ([0-9a-f]{16})>\n([\s\S]*)\n<\/untrusted \1>(?:\n(?:Cut here|This was)[^\n]*)?$/.exec(
      model,
    );
  expect(match).not.toBeNull();
  const [, tag = "", inner = ""] = match ?? [];
  expect(inner).not.toContain(tag);
  expect(inner).not.toMatch(/[<＜﹤‹〈⟨]\s*[/／]?\s*untrusted/iu);
  expect(model).not.toMatch(TERMINAL);
}

const intakeResource = (raw: unknown, options: IntakeOptions): ResourceIntake =>
  atOnce(resourceIntake(raw, options));
const intakePrompt = (raw: unknown, options: IntakeOptions): PromptIntake =>
  atOnce(promptIntake(raw, options));

describe("whatever a server sends", () => {
  it("cannot close the frame of a text for models", () => {
    fc.assert(
      fc.property(
        anyString,
        fc.constantFrom("result", "error", "instructions", "prompt", "resource", "elicitation", "log"),
        (text, kind) => {
          expectClosed(channels.modelText(kind, { server: "s", name: null }, text, { mode: "note" }).text);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("cannot close it through names either", () => {
    fc.assert(
      fc.property(anyString, anyString, anyString, (server, name, text) => {
        expectClosed(channels.modelText("result", { server, name }, text, { mode: "mark" }).text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is taken in without a throw, closed for the model, harmless for a terminal", () => {
    fc.assert(
      fc.property(anyResult, (raw) => {
        const taken = intakeToolResult(raw, options);
        expectClosed(taken.model);
        const shown = renderForPerson(taken.content, taken.structured);
        expect(shown).not.toMatch(TERMINAL);
        for (const line of [...taken.problems, ...taken.findings.map(({ message }) => message)])
          expect(line).not.toMatch(TERMINAL);
        for (const { message } of taken.findings) expect(message.length).toBeLessThanOrEqual(300);
        // The outcome is JSON: it must survive being written.
        expect(() => JSON.stringify(taken)).not.toThrow();
        const strings: string[] = [];
        JSON.stringify([taken.content, taken.structured, taken.meta], (key, value: unknown) => {
          strings.push(key);
          if (typeof value === "string") strings.push(value);
          return value;
        });
        for (const text of strings) expect(text.replaceAll("\r\n", "\n")).not.toMatch(TERMINAL);
      }),
      { numRuns: 3_000 },
    );
  });

  it("is taken in as a resource or prompt with the same care", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.record({
            contents: fc.array(anyBlock),
            messages: fc.array(fc.record({ role: member, content: anyBlock })),
          }),
          anyJson,
        ),
        (raw) => {
          for (const taken of [intakeResource(raw, options), intakePrompt(raw, options)]) {
            expectClosed(taken.model);
            expect(renderForPerson(taken.content)).not.toMatch(TERMINAL);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("costs the model no more than what was allowed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 400 })),
        fc.integer({ min: 10, max: 200 }),
        (texts, modelTokens) => {
          const taken = intakeToolResult(
            { content: texts.map((text) => ({ type: "text", text })) },
            { ...options, scan: "note", modelTokens },
          );
          const inner = /\n<untrusted [^\n]*\n([\s\S]*)\n<\/untrusted/.exec(taken.model)?.[1] ?? "";
          expect(Buffer.byteLength(inner)).toBeLessThanOrEqual(modelTokens * 3.6);
        },
      ),
      { numRuns: 300 },
    );
  });
});
