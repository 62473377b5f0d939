/**
 * The turns that share a model's context: what was read so far, and which values came out of tools. Kept in memory; the least
 * recently used are forgotten first.
 */
import type { ArgumentOrigin } from "../approvals/details.ts";
import type { JsonObject } from "../base/json.ts";
import { inSlices } from "../base/slices.ts";
import type { Flow, FlowLabels } from "../policy/labels.ts";
import { createProvenance, type ProvenanceFinding } from "../policy/provenance.ts";

export interface Conversation {
  readonly id: string;
  readonly flow: Flow;
  /** What the user said: values in it are theirs. */
  heard(text: string): void;
  /** What the agent sends: what came from no tool is its own from now on. */
  sent(args: JsonObject): void;
  /** Something to wait for where the output is a large one: what it holds is known before anybody is shown it. */
  saw(from: string, output: unknown, labels: FlowLabels): Promise<void> | undefined;
  findIn(args: JsonObject): {
    readonly findings: readonly ProvenanceFinding[];
    readonly origins: readonly ArgumentOrigin[];
  };
}

export interface Conversations {
  get(id: string): Conversation;
}

const MAX_CONVERSATIONS = 1_000;

/** @param key 32 secret bytes for the hashes of values. */
export function createConversations(key: Buffer): Conversations {
  const known = new Map<string, Conversation>();
  let newest: Conversation | undefined;
  return {
    get(id) {
      if (newest?.id === id) return newest;
      const conversation = known.get(id) ?? createConversation(id, key);
      known.delete(id);
      known.set(id, conversation);
      newest = conversation;
      const [oldest] = known.keys();
      if (known.size > MAX_CONVERSATIONS && oldest !== undefined) known.delete(oldest);
      return conversation;
    },
  };
}

const NOTHING = { findings: [], origins: [] } as const;

function createConversation(id: string, key: Buffer): Conversation {
  const provenance = createProvenance({ key, conversation: id });
  return {
    id,
    get flow() {
      return provenance.flow;
    },
    heard: (text) => provenance.userSaid(text),
    sent: (args) => provenance.agentSent(args),
    saw(from, output, labels) {
      provenance.observe(from, output, labels);
      const reading = provenance.readAhead();
      return reading === undefined ? undefined : Promise.resolve(inSlices(reading));
    },
    findIn(args) {
      const findings = provenance.check(args);
      if (findings.length === 0) return NOTHING;
      return { findings, origins: findings.map(({ where, message }) => ({ where, message })) };
    },
  };
}
