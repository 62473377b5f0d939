/** What the outside field servers send, through intake: every mode of fc62, fc64 and fc93. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Intake } from "../../../src/results/intake.ts";
import { renderForPerson } from "../../../src/results/person.ts";
import { cleanForPerson } from "../../../src/text/clean.ts";
import { highestSeverity, scanText } from "../../../src/text/scan.ts";
import { describeField, fieldServer } from "../../support/field.ts";
import { channels, framed, take } from "./results-kit.ts";

interface Answer {
  readonly id?: number;
  readonly result?: JsonObject;
  readonly error?: { readonly message: string };
}

interface Peer {
  request(method: string, params?: JsonObject): Promise<Answer>;
  call(name: string, args?: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

/** JSON-RPC over a pipe, and no more: what is under test is what comes after it. */
function start(name: string, env: Readonly<Record<string, string>> = {}): Peer {
  const child = spawn(process.execPath, [fieldServer(name)], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  let id = 0;
  const request = (method: string, params: JsonObject = {}): Promise<Answer> => {
    id += 1;
    const own = id;
    return new Promise((resolve) => {
      waiting.set(own, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: own, method, params })}\n`);
    });
  };
  return {
    request,
    async call(tool, args = {}) {
      const { result } = await request("tools/call", { name: tool, arguments: args });
      return result ?? {};
    },
    close: () =>
      new Promise((resolve) => {
        child.once("close", () => resolve());
        lines.close();
        child.stdin.end();
      }),
  };
}

const TERMINAL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u;
const needsInteger = (value: unknown): readonly string[] =>
  typeof value === "object" &&
  value !== null &&
  Number.isInteger((value as { n?: unknown }).n) &&
  Object.keys(value).length === 1
    ? []
    : ["/n: must be an integer"];
const rules = ({ findings }: Intake): string[] => findings.map(({ rule }) => rule);
const shown = ({ content }: Intake): string[] =>
  content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));

let peer: Peer;

describeField("fc62-structured-mismatch", () => {
  beforeEach(() => {
    peer = start("fc62-structured-mismatch");
  });
  afterEach(() => peer.close());

  it.each<[string, boolean, string[]]>([
    ["good", false, []],
    ["error_plain", true, []],
    ["error_structured", true, []],
    ["missing", false, ["output.missing"]],
    ["wrong_type", false, ["output.mismatch"]],
    ["extra", false, ["output.mismatch"]],
    ["array", false, ["output.mismatch"]],
    ["number", false, ["output.mismatch"]],
    ["null_value", false, ["output.mismatch"]],
    ["differs", false, []],
    ["string_json", false, ["output.mismatch"]],
    ["error_string", false, ["result.is-error", "output.missing"]],
    ["error_empty", true, []],
    ["error_member", false, []],
  ])("%s: is an error %j, findings %j [TOOL-13] [TOOL-15] [TOOL-16]", async (tool, isError, expected) => {
    const raw = await peer.call(tool);
    const taken = take(raw, { validateOutput: needsInteger });
    expect(taken.isError).toBe(isError);
    expect(rules(taken)).toEqual(expected);
    expect(taken.model.startsWith(isError ? "Error of tool" : "Result of tool")).toBe(true);
    // The text survives, whatever the structured part is.
    const said = (raw["content"] as { text: string }[])[0]?.text;
    if (said !== undefined) expect(framed(taken.model)).toContain(said);
  });

  it("no_schema_structured: data without a schema is kept", async () => {
    expect(take(await peer.call("no_schema_structured")).structured).toEqual({ anything: true });
  });
});

describeField("fc64-content-kinds", () => {
  beforeEach(() => {
    peer = start("fc64-content-kinds");
  });
  afterEach(() => peer.close());

  it.each<[string, string[]]>([
    ["mixed", ["BEGIN", "<image>", "<audio>", "<resource_link>", "<resource>", "<resource>", "END"]],
    ["future", ["before", '[a block of the unknown type "hologram"]', "after"]],
    ["untyped", ["before", "[a block without a type]", "after"]],
    ["not_array", ["an object, not an array"]],
    ["no_content", ['{\n  "rows": [\n    1,\n    2,\n    3\n  ]\n}']],
    ["empty_structured", ['{\n  "rows": [\n    1,\n    2,\n    3\n  ]\n}']],
    ["both_empty", ["[the tool returned nothing]"]],
    ["empty_text", [""]],
    [
      "null_block",
      ["before", "[no content block: null]", "bare string", "[no content block: number]", "after"],
    ],
    ["deep_structured", ["deep", "[structured data: too large or too deep to keep here]"]],
  ])("%s", async (tool, expected) => {
    expect(shown(take(await peer.call(tool)))).toEqual(expected);
  });

  it("bad_image: only what is an image is one", async () => {
    const taken = take(await peer.call("bad_image"));
    expect(taken.content.map(({ type }) => type)).toEqual(["image", "text", "text", "text", "text"]);
    expect(shown(taken).at(-1)).toBe("END");
  });

  it("traversal: names are cleaned, local files marked, code withheld", async () => {
    const taken = take(await peer.call("traversal"));
    const names = taken.content.map((block) => (block.type === "resource_link" ? block.name : block.type));
    expect(names).toEqual(["passwd", "text", "resource", "a␀b‹U+202E›gpj.exe"]);
    expect(rules(taken)).toEqual(["link.file", "link.scheme", "link.file", "link.private-address"]);
    expect(JSON.stringify(taken.content)).not.toContain("javascript:alert");
  });

  it("huge: 8 MiB, twice, are a few hundred characters for the model", async () => {
    const taken = take(await peer.call("huge", { mb: 8 }));
    expect(taken.model.length).toBeLessThan(600);
    expect(JSON.stringify(taken.content).length).toBeLessThan(1_000);
    expect(taken.rest).toBeUndefined();
  });

  it("long_text: cut for both, with a way to the rest", async () => {
    const taken = take(await peer.call("long_text", { mb: 5 }));
    expect(shown(taken)[0]?.length).toBe(1_048_576);
    expect(taken.model.length).toBeLessThan(91_000);
    expect(taken.model).toContain("portcullis__read_more");
    expect(taken.rest?.text.length).toBe(5 * 1_048_576);
  });

  it("many_blocks: bounded, in order", async () => {
    const taken = take(await peer.call("many_blocks"));
    expect(shown(taken).slice(0, 2)).toEqual(["b0", "b1"]);
    expect(taken.content.length).toBe(1_001);
  });
});

describeField("fc93-poison", () => {
  /** Tricks that must at least be marked, and those that are held back. */
  const WORST: Readonly<Record<string, string | null>> = {
    plain_order: "high",
    ansi_conceal: "high",
    ansi_cursor: "high",
    ansi_link: "note",
    ansi_clipboard: "high",
    c1_csi: "note",
    carriage: "high",
    tags: "high",
    tags_in_flag: "high",
    flag_ok: null,
    zero_width: "high",
    variation: "high",
    bidi: "low",
    far_away: "high",
    homoglyph: "note",
    delimiter: "high",
    markdown_image: "low",
    nul: "note",
    hangul_filler: "note",
  };

  afterEach(() => peer.close());

  it("every trick is harmless in both channels, and the honest flag comes through", async () => {
    peer = start("fc93-poison");
    const { result } = await peer.request("tools/list");
    const tools = (result?.["tools"] ?? []) as unknown as { name: string; description: string }[];
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(WORST).sort());
    const worst: Record<string, string | null> = {};
    for (const { name, description } of tools) {
      worst[name] = highestSeverity(scanText(description, "/description"));
      const forPerson = cleanForPerson(description);
      const forModel = channels.modelText("description", { server: "poison", name }, description, {
        mode: "mark",
      }).text;
      const framedText = channels.modelText("result", { server: "poison", name }, description, {
        mode: "mark",
      }).text;
      for (const safe of [forPerson, forModel, framedText]) {
        expect(safe).not.toMatch(TERMINAL);
        if (name !== "flag_ok") expect(safe).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
      }
      expect(framedText.match(/<\/untrusted/g)).toHaveLength(1);
      if (name === "flag_ok") expect([forPerson, forModel]).toEqual([description, description]);
    }
    expect(worst).toEqual(WORST);
  });

  it("results, errors and instructions too", async () => {
    peer = start("fc93-poison");
    for (const name of Object.keys(WORST)) {
      for (const mode of [undefined, "error"]) {
        const taken = take(await peer.call(name, mode === undefined ? {} : { mode }), { scan: "mark" });
        expect(taken.isError).toBe(mode !== undefined);
        expect(renderForPerson(taken.content)).not.toMatch(TERMINAL);
        expect(taken.model).not.toMatch(TERMINAL);
        expect(taken.model.match(/<\/untrusted/g)).toHaveLength(1);
      }
      const { error } = await peer.request("tools/call", { name, arguments: { mode: "plain" } });
      expect(channels.modelText("error", { server: "poison", name }, error?.message ?? "").text).not.toMatch(
        TERMINAL,
      );
    }
  });

  it("toxic flow: what gives orders in issues and rows is held back", async () => {
    peer = start("fc93-poison", { MODE: "toxic-flow" });
    for (const tool of ["list_issues", "run_sql"]) {
      const taken = take(await peer.call(tool));
      expect(taken.isBlocked).toBe(true);
      expect(taken.model).not.toContain("create_pr");
      expect(taken.model).not.toContain("integration_tokens");
    }
    expect(take(await peer.call("read_private")).isBlocked).toBe(false);
  });
});
