import { z } from "zod";
import { PortcullisError } from "../errors.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** What waits for an answer, oldest first. */
export const approvals = defineOperation({
  name: "approvals",
  summary: "the calls that wait for an answer",
  input: z.strictObject({}),
  isLive: false,
  run: async ({ host }) => ({ approvals: await host.approvals.list() }),
});

/** `without`: numbers as shown, from 1: items of one approval, or approvals of a group. */
export const approve = defineOperation({
  name: "approve",
  summary: "approve one waiting call, or a group of them without some",
  input: z.strictObject({
    id: nameInput,
    without: z.array(z.int().min(1)).max(10_000).default([]),
    confirm: z.string().max(1_024).optional(),
    /** Lets the same be done again without asking, where the configuration allows standing approvals. */
    grant: z.enum(["session", "hour", "arguments"]).optional(),
    /** The approvals of the group that the person has seen; default: all that wait now. */
    seen: z.array(nameInput).max(10_000).optional(),
  }),
  isLive: false,
  async run({ host, by, channel }, input) {
    const waiting = await host.approvals.list();
    const group = waiting.filter((approval) => approval.group === input.id);
    if (group.length > 0) {
      const seen = input.seen ?? group.map((approval) => approval.id);
      const reports = await host.approvals.answerGroup(input.id, {
        by,
        channel,
        seen,
        without: input.without,
      });
      return {
        answered: reports.map((report) =>
          "error" in report ? { id: report.id, state: report.error.code } : report,
        ),
      };
    }
    const report = await host.approvals.answer(input.id, {
      verdict: "approve",
      by,
      channel,
      without: input.without.map((number) => number - 1),
      ...(input.confirm === undefined ? {} : { typed: input.confirm }),
      ...(input.grant === undefined ? {} : { grant: input.grant }),
    });
    return { answered: [report] };
  },
});

export const deny = defineOperation({
  name: "deny",
  summary: "refuse one waiting call; the reason reaches the model",
  input: z.strictObject({ id: nameInput, reason: z.string().max(500).optional() }),
  isLive: false,
  async run({ host, by, channel }, { id, reason }) {
    const report = await host.approvals.answer(id, {
      verdict: "deny",
      by,
      channel,
      ...(reason === undefined ? {} : { reason }),
    });
    return { answered: [report] };
  },
});

/** Standing approvals, as they are now. */
export const grants = defineOperation({
  name: "grants",
  summary: "the standing approvals",
  input: z.strictObject({}),
  isLive: false,
  run: async ({ host }) => ({ grants: await host.grants.list() }),
});

export const revoke = defineOperation({
  name: "revoke",
  summary: "take a standing approval back",
  input: z.strictObject({ id: nameInput }),
  isLive: false,
  async run({ host, by }, { id }) {
    if (!(await host.grants.revoke(id, by)))
      throw new PortcullisError("not_found", `there is no standing approval \`${id}\``);
    return { revoked: id };
  },
});
