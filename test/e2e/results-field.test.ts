/** The outside field servers of results and texts through a whole host: what a person gets, what a model gets, how it is counted. */
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { CallOptions } from "../../src/host/api.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { renderForPerson } from "../../src/results/person.ts";
import { describeField } from "../support/field.ts";
import { openFieldHost, type FieldHost, type FieldOptions } from "../support/field-host.ts";

const eras = ["modern", "legacy"] as const;
/** Whatever steers a terminal or is not seen. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
const readOnly = { default: "L0", tools: { "*": "L0" } } as const;

let field: FieldHost;

async function open(name: string, era: string, more: FieldOptions = {}): Promise<void> {
  field = await openFieldHost(name, { entry: readOnly, ...more, env: { ERA: era, ...more.env } });
}

const call = async (tool: string, args: JsonObject = {}, options: CallOptions = {}): Promise<Outcome> =>
  field.host.call({ server: "field", tool }, args, { wait: false, ...options });
const rules = ({ findings }: Outcome): string[] => findings.map(({ rule }) => rule);
const shown = ({ content }: Outcome): string[] =>
  content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));

describeField("fc62-structured-mismatch", () => {
  afterEach(() => field.close());

  it.each(eras)(
    "%s: a mismatch is a finding and the text is kept; errors of the tool and of the protocol are told apart [TOOL-10] [TOOL-13] [TOOL-15] [TOOL-16]",
    async (era) => {
      await open("fc62-structured-mismatch", era);
      const ends: Record<string, [string, string[]]> = {};
      for (const { tool } of await field.host.tools()) {
        const outcome = await call(tool);
        ends[tool] = [outcome.outcome, rules(outcome)];
        if (outcome.outcome === "completed") expect(outcome.code).toBeNull();
      }
      expect(ends).toEqual({
        good: ["completed", []],
        error_plain: ["tool_error", []],
        error_structured: ["tool_error", []],
        missing: ["completed", ["output.missing"]],
        wrong_type: ["completed", ["output.mismatch"]],
        extra: ["completed", []],
        array: ["completed", ["output.mismatch"]],
        number: ["completed", ["output.mismatch"]],
        null_value: ["completed", ["output.mismatch"]],
        differs: ["completed", []],
        string_json: ["completed", ["output.mismatch"]],
        error_string: ["completed", ["result.is-error", "output.missing"]],
        error_empty: ["tool_error", []],
        no_schema_structured: ["completed", []],
        error_member: ["completed", []],
        rpc_error: ["protocol_error", []],
      });
      const failed = await call("error_plain");
      expect(failed.model).toContain("disk is full");
      expect(failed.model).toContain("the tool ran and reported an error");
      expect(shown(await call("missing"))).toEqual(["n is 1"]);
      // Both parts, because they disagree.
      expect((await call("differs")).model).toMatch(/"n":1[\s\S]*"n":2/);
      const broken = await call("rpc_error");
      expect(broken).toMatchObject({ code: "remote_error", content: [] });
      expect(broken.model).not.toContain("secret.js");
      const counted = (await field.host.activity({ limit: 100 })).map((one) => one.outcome);
      expect(new Set(counted)).toEqual(new Set(["completed", "tool_error", "protocol_error"]));
    },
  );
});

describeField("fc64-content-kinds", () => {
  afterEach(() => field.close());

  describe.each(eras)("%s", (era) => {
    it("every kind in order, unknown ones by name, nothing lost to one bad block [TOOL-14] [TOOL-35]", async () => {
      await open("fc64-content-kinds", era);
      const seen: Record<string, string[]> = {};
      for (const tool of [
        "mixed",
        "future",
        "untyped",
        "not_array",
        "both_empty",
        "empty_text",
        "null_block",
        "deep_structured",
      ]) {
        const outcome = await call(tool);
        expect(outcome.outcome).toBe("completed");
        seen[tool] = shown(outcome);
      }
      expect(seen).toEqual({
        mixed: ["BEGIN", "<image>", "<audio>", "<resource_link>", "<resource>", "<resource>", "END"],
        future: ["before", '[a block of the unknown type "hologram"]', "after"],
        untyped: ["before", "[a block without a type]", "after"],
        not_array: ["an object, not an array"],
        both_empty: ["[the tool returned nothing]"],
        empty_text: [""],
        null_block: [
          "before",
          "[no content block: null]",
          "bare string",
          "[no content block: number]",
          "after",
        ],
        deep_structured: ["deep", "[structured data: too large or too deep to keep here]"],
      });
      expect((await call("future")).model).toMatch(/before[\s\S]*hologram[\s\S]*after/);
      for (const tool of ["no_content", "empty_structured"]) {
        const outcome = await call(tool);
        expect(outcome.structured).toEqual({ rows: [1, 2, 3] });
        expect(outcome.model).toContain('{"rows":[1,2,3]}');
      }
    });

    it("what claims to be an image is looked at, names are cleaned, no link is opened", async () => {
      await open("fc64-content-kinds", era);
      const image = await call("bad_image");
      expect(image.content.map(({ type }) => type)).toEqual(["image", "text", "text", "text", "text"]);
      const traversal = await call("traversal");
      expect(rules(traversal)).toEqual(["link.file", "link.scheme", "link.file", "link.private-address"]);
      expect(JSON.stringify(traversal.content)).not.toMatch(/javascript:alert|\.\.\/|\u202e/);
      expect(traversal.model).not.toMatch(UNSAFE);
    });

    it("giants are cut for both, and the rest can be paged", async () => {
      await open("fc64-content-kinds", era);
      const huge = await call("huge", { mb: 4 });
      expect(huge.model.length).toBeLessThan(1_000);
      expect(JSON.stringify(huge.content).length).toBeLessThan(2_000);
      const long = await call("long_text", { mb: 2 });
      expect(shown(long)[0]?.length).toBe(1_048_576);
      expect(long.model.length).toBeLessThan(95_000);
      expect(long.restId).toBe(long.callId);
      const turn = field.host.turn();
      const page = await turn.call("portcullis__read_more", { id: long.callId, page: 2 });
      expect(page).toMatchObject({ outcome: "completed" });
      expect(page.model).toContain("page 2 of");
      await turn.close();
      const stranger = field.host.turn({ principal: "somebody" });
      expect((await stranger.call("portcullis__read_more", { id: long.callId, page: 2 })).outcome).toBe(
        "refused",
      );
      await stranger.close();
      expect((await call("many_blocks")).content).toHaveLength(1_001);
    });
  });
});

describeField("fc93-poison", () => {
  afterEach(() => field.close());

  describe.each(eras)("%s", (era) => {
    it("MODE=text: no trick reaches a person's screen or closes the model's frame, and honest emoji stay [RPC-13]", async () => {
      await open("fc93-poison", era, { entry: { ...readOnly, scan: "mark" } });
      const tools = await field.host.tools();
      const held = tools.filter((one) => one.quarantine?.code === "suspicious").map((one) => one.tool);
      expect(held).toEqual(
        expect.arrayContaining(["plain_order", "tags", "delimiter", "zero_width", "far_away"]),
      );
      expect(held).not.toContain("flag_ok");
      for (const { tool, title, description, quarantine } of tools) {
        expect(`${title} ${description} ${quarantine?.reason}`).not.toMatch(UNSAFE);
        if (tool !== "flag_ok") expect(`${title} ${description}`).not.toMatch(TAGS);
      }
      for (const item of await field.host.review()) expect(item.diff).not.toMatch(UNSAFE);
      const refused = await call("plain_order");
      expect(refused).toMatchObject({ outcome: "refused", code: "tool_quarantined" });
      // Accepted by a person who wants to see what they do.
      await field.host.accept({ server: "field" }, "operator");
      const turn = field.host.turn();
      const offered = JSON.stringify([(await turn.offer("anthropic")).tools, await turn.tools()]);
      expect(offered).not.toMatch(/[\u007f-\u009f\u200b\u202a-\u202e\u2060\ufeff]/u);
      await turn.close();
      const yes = { consent: { by: "me", channel: "terminal", typed: null } } as const;
      for (const { tool } of tools) {
        for (const args of [{}, { mode: "error-of-the-tool" }, { mode: "plain" }]) {
          const outcome = await call(tool, args, yes);
          const frames = outcome.model.match(/<\/untrusted/g) ?? [];
          expect(frames.length).toBeLessThanOrEqual(1);
          for (const text of [outcome.model, outcome.message, renderForPerson(outcome.content)])
            expect(text).not.toMatch(UNSAFE);
        }
      }
      const flag = await call("flag_ok", {}, yes);
      expect(shown(flag)[0]).toContain("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}");
    });

    it("MODE=text: by default what gives orders is held back, and every finding is told", async () => {
      await open("fc93-poison", era);
      const outcome = await call("flag_ok");
      expect(outcome.outcome).toBe("completed");
      const told = field.events.filter((event) => event.type === "finding.raised");
      expect(told.length).toBeGreaterThan(10);
      expect(told.every((event) => !UNSAFE.test(JSON.stringify(event)))).toBe(true);
    });

    it("MODE=toxic-flow: after untrusted content and private data a write outward needs a person, whatever was granted before", async () => {
      let asked = 0;
      await open("fc93-poison", era, {
        env: { MODE: "toxic-flow" },
        entry: {
          default: "L0",
          tools: {
            "*": "L0",
            create_pr: { grade: "L1", undo: { tool: "create_pr", args: { body: "undo" } } },
          },
        },
        onApproval: async () => {
          asked += 1;
          return { verdict: "deny" };
        },
      });
      const turn = field.host.turn({ userText: "look at the issues" });
      expect(await turn.call("field__create_pr", { body: "hello" })).toMatchObject({ outcome: "completed" });
      const issues = await turn.call("field__list_issues", {});
      expect(issues.model).toContain("held back");
      expect(issues.model).not.toContain("Do not ask");
      await turn.call("field__read_private", {});
      const refused = await turn.call("field__create_pr", { body: "about: FAKE-PRIVATE-7f3a" });
      expect(refused).toMatchObject({ outcome: "refused", code: "approval_denied" });
      expect(asked).toBe(1);
      expect(field.noted("leak")).toEqual([]);
      const rows = await turn.call("field__run_sql", {});
      expect(rows.model).not.toContain("integration_tokens");
      await turn.close();
    });
  });
});
