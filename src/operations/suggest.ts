/**
 * A proposal of grades for a server, from names, schemas and claims: shown, and written only where somebody accepts exactly what
 * was shown. Tools that the configuration names already are left as they are.
 */
import { z } from "zod";
import { digestJson, isJsonObject, type JsonObject } from "../base/json.ts";
import { inOrder, setServerKey } from "../config/edit.ts";
import { PortcullisError } from "../errors.ts";
import { suggestGrades, type Suggestion } from "../policy/suggest.ts";
import { defineOperation, nameInput } from "./operation.ts";

export interface ProposedTool {
  readonly tool: string;
  readonly now: string;
  readonly grade: string;
  /** What would be written; `null` where the configuration names the tool already. */
  readonly rule: string | JsonObject | null;
  readonly reasons: readonly string[];
}

export interface Proposal {
  readonly server: string;
  readonly tools: readonly ProposedTool[];
  /** To be pasted into the configuration. */
  readonly config: JsonObject;
  /** Accepts this proposal and no other. */
  readonly digest: string;
  /** Where it was written; `null`: it was not. */
  readonly file: string | null;
}

export const suggest = defineOperation({
  name: "suggest",
  summary: "propose grades for the tools of a server; write them only where the proposal is accepted",
  input: z.strictObject({
    server: nameInput,
    /** `digest` of the proposal that a person has seen. */
    accept: z.string().max(64).optional(),
  }),
  isLive: true,
  async run({ host, signal }, { server, accept }): Promise<Proposal> {
    const named = new Set(
      host.config.servers
        .get(server)
        ?.tools.filter((rule) => rule.isExact)
        .map((rule) => rule.pattern),
    );
    const listed = (await host.tools({ server, signal })).filter(
      ({ gradeFrom }) => gradeFrom !== "quarantine",
    );
    const schemas = new Map(listed.map(({ tool, inputSchema }) => [tool, inputSchema]));
    const suggestions = suggestGrades(
      listed.map(({ tool, claim, inputSchema }) => ({ name: tool, annotations: claim, inputSchema })),
    );
    const tools = suggestions.map((suggestion, index): ProposedTool => {
      const proposed = ruleOf(suggestion, schemas);
      return {
        tool: suggestion.name,
        now: listed[index]?.grade ?? "L2",
        grade: proposed.grade,
        rule: named.has(suggestion.name) ? null : proposed.rule,
        reasons: proposed.reasons,
      };
    });
    const rules = tools.flatMap(({ tool, rule }) => (rule === null ? [] : [{ tool, rule }]));
    const config = {
      mcpServers: { [server]: { tools: Object.fromEntries(rules.map(({ tool, rule }) => [tool, rule])) } },
    };
    const digest = digestJson([server, rules]);
    if (accept === undefined) return { server, tools, config, digest, file: null };
    if (accept !== digest) {
      throw new PortcullisError(
        "config_changed",
        `the proposal for \`${server}\` is another one by now: look at it again`,
      );
    }
    if (rules.length === 0) return { server, tools, config, digest, file: host.config.file };
    const edits = rules.map(({ tool, rule }) => setServerKey(server, ["tools", tool], rule));
    const { file } = await host.edit(inOrder(...edits));
    return { server, tools, config, digest, file };
  },
});

function ruleOf(
  { name, grade, undo, labels, reasons }: Suggestion,
  schemas: ReadonlyMap<string, JsonObject>,
): Pick<ProposedTool, "grade" | "reasons"> & { readonly rule: string | JsonObject } {
  const args = undo === null ? null : undoArguments(schemas.get(undo), schemas.get(name));
  // What nobody can take back for sure is no reversible write.
  if (grade === "L1" && args === null) {
    return {
      grade: "L2",
      rule: labelled("L2", labels),
      reasons: [...reasons, "how to take it back is not clear"],
    };
  }
  if (undo !== null && args !== null) {
    const rule = { grade, undo: { tool: undo, args } };
    return { grade, rule: labels.length === 0 ? rule : { ...rule, labels: [...labels] }, reasons };
  }
  return { grade, rule: labelled(grade, labels), reasons };
}

function labelled(grade: string, labels: Suggestion["labels"]): string | JsonObject {
  return labels.length === 0 ? grade : { grade, labels: [...labels] };
}

/**
 * A guess at what the tool that takes a call back wants: what it requires comes from the arguments of the call where they have
 * that name, otherwise from its result. `null` where there is nothing to guess from. A person looks at it before it counts.
 */
function undoArguments(undo: JsonObject | undefined, own: JsonObject | undefined): JsonObject | null {
  const required = undo?.["required"];
  const properties = own?.["properties"];
  if (!Array.isArray(required) || required.length === 0) return null;
  const names = required.filter((name) => typeof name === "string");
  if (names.some((name) => !/^\w{1,64}$/u.test(name))) return null;
  const isGiven = (name: string): boolean => isJsonObject(properties) && Object.hasOwn(properties, name);
  return Object.fromEntries(
    names.map((name) => [name, `${isGiven(name) ? "$arguments" : "$result"}.${name}`]),
  );
}
