import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalJson, digestJson, type JsonValue } from "../../../src/base/json.ts";
import { call, openAuditBench, outcome } from "./audit-bench.ts";

describe("the trail of a call that may write", () => {
  it.each(["L1", "L2", "L3"] as const)("is on disk at each durable mark (%s) [TOOL-12]", async (grade) => {
    const { dir, audit } = await openAuditBench();
    // Another connection: what it sees is committed.
    const file = new DatabaseSync(join(dir, "state.db"), { readOnly: true });
    const kinds = (): unknown[] =>
      file
        .prepare("SELECT kind FROM records ORDER BY id")
        .all()
        .map((row) => row["kind"]);
    const trail = await audit.open(call({ grade }));
    expect(kinds()).toEqual(["opened"]);
    trail.decided({
      decision: "allow",
      reasons: [{ rule: "approval.given", message: "ann said yes" }],
      grade,
      approvedBy: "ann",
    });
    await trail.dispatched();
    expect(kinds()).toEqual(["opened", "decided", "dispatched"]);
    trail.attempt(1, { code: null, durationMs: 3 });
    await trail.closed(outcome());
    expect(kinds()).toEqual(["opened", "decided", "dispatched", "attempt", "closed"]);
    file.close();
  });

  it("cannot be opened, nor sent, while nothing can be written", async () => {
    const { store, audit, kinds } = await openAuditBench({ maxBytes: 300_000 });
    const trail = await audit.open(call());
    for (let n = 0; ; n += 1) {
      const isFull = await store.documents.put("pins", String(n), "x".repeat(1_000)).then(
        () => false,
        () => true,
      );
      if (isFull) break;
    }
    const big = { text: "y".repeat(10_000) };
    trail.decided({ decision: "allow", reasons: [], grade: "L2", arguments: big });
    await expect(trail.dispatched()).rejects.toMatchObject({ code: "audit_unavailable" });
    await expect(audit.open(call({ callId: "call 2", arguments: big }))).rejects.toMatchObject({
      code: "audit_unavailable",
    });
    expect(await kinds()).toEqual(["opened"]);
  });

  it("may not be sent after it was closed, and is closed once", async () => {
    const { audit, kinds } = await openAuditBench();
    const trail = await audit.open(call());
    await trail.closed(outcome({ outcome: "refused", code: "approval_denied", effect: "none" }));
    await trail.closed(outcome());
    await expect(trail.dispatched()).rejects.toMatchObject({ code: "internal" });
    expect(await kinds()).toEqual(["opened", "closed"]);
  });

  it("takes a late answer, once", async () => {
    const { audit, kinds } = await openAuditBench();
    const trail = await audit.open(call());
    await trail.dispatched();
    await trail.closed(outcome({ outcome: "timed_out", code: "timed_out", effect: "unknown" }));
    trail.late();
    trail.late();
    expect(await kinds()).toEqual(["opened", "dispatched", "closed", "late"]);
  });
});

describe("the trail of a call that only reads", () => {
  const reading = call({ grade: "L0", tool: "search" });

  it("becomes one record when the call is short", async () => {
    const { audit, clock, store, given } = await openAuditBench();
    const trail = await audit.open(reading);
    trail.decided({ decision: "allow", reasons: [{ rule: "grade.rule", message: "reads" }], grade: "L0" });
    await trail.dispatched();
    trail.attempt(1, { code: null, durationMs: 3 });
    await clock.advance(5);
    await trail.closed(outcome({ effect: "none" }));
    audit.release();
    const records = await store.records.query({});
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      kind: "call",
      at: clock.now() - 5,
      body: {
        principal: "local",
        server: "github",
        tool: "search",
        grade: "L0",
        dispatchedAt: clock.now() - 5,
        closedAt: clock.now(),
        decided: { decision: "allow" },
        closed: { outcome: "completed", effect: "none", attempts: 1 },
      },
    });
    await clock.advance(100);
    expect(await store.records.query({})).toHaveLength(1);
    // In the order of canonical JSON, which is what makes it cheap.
    const text = JSON.stringify(given[0]?.body);
    expect(text).toBe(canonicalJson(JSON.parse(text)));
  });

  it("is on disk within 50 ms when the call is not", async () => {
    const { dir, audit, clock, store } = await openAuditBench();
    const file = new DatabaseSync(join(dir, "state.db"), { readOnly: true });
    const kinds = (): unknown[] =>
      file
        .prepare("SELECT kind FROM records ORDER BY id")
        .all()
        .map((row) => row["kind"]);
    const trail = await audit.open(reading);
    const late = await audit.open({ ...reading, callId: "call 2" });
    await trail.dispatched();
    await clock.advance(50);
    // What happened until then stands in one record.
    expect(kinds()).toEqual(["opened", "opened"]);
    expect((await store.records.query({ callId: "call 1" }))[0]?.body["dispatchedAt"]).toBe(clock.now() - 50);
    await late.dispatched();
    trail.attempt(1, { code: null, durationMs: 3 });
    late.attempt(1, { code: "connection_lost", durationMs: 3 });
    await trail.closed(outcome({ effect: "none" }));
    await clock.advance(25);
    expect(kinds()).toEqual(["opened", "opened", "dispatched", "attempt", "closed"]);
    file.close();
  });

  it("becomes durable when the decision finds that it may write", async () => {
    const { dir, audit } = await openAuditBench();
    const trail = await audit.open(reading);
    trail.decided({ decision: "allow", reasons: [], grade: "L2" });
    await trail.dispatched();
    const file = new DatabaseSync(join(dir, "state.db"), { readOnly: true });
    expect(
      file
        .prepare("SELECT kind FROM records ORDER BY id")
        .all()
        .map((row) => row["kind"]),
    ).toEqual(["opened", "dispatched"]);
    file.close();
    await trail.closed(outcome());
  });

  it("waits for the disk once something was lost, is refused while it fails, and tells the gap after it", async () => {
    const { store, audit, clock, faults } = await openAuditBench({ maxBytes: 300_000 });
    await store.documents.put("last-good", "ballast", "x".repeat(60_000));
    for (let n = 0; ; n += 1) {
      const isFull = await store.documents.put("pins", String(n), "x".repeat(500)).then(
        () => false,
        () => true,
      );
      if (isFull) break;
    }
    const big = { text: "y".repeat(15_000) };
    const lost = await audit.open({ ...reading, arguments: big });
    await lost.closed(outcome({ effect: "none" }));
    await clock.advance(100);
    expect(faults).toMatchObject([{ code: "audit_unavailable" }]);
    await expect(audit.open({ ...reading, callId: "call 2", arguments: big })).rejects.toMatchObject({
      code: "audit_unavailable",
    });
    await store.documents.delete("last-good", "ballast");
    const trail = await audit.open({ ...reading, callId: "call 3", arguments: big });
    await trail.closed(outcome({ effect: "none" }));
    await clock.advance(100);
    const records = await store.records.query({});
    expect(records.map(({ kind, callId }) => [kind, callId])).toEqual([
      ["opened", "call 3"],
      ["audit.gap", ""],
      ["closed", "call 3"],
    ]);
    expect(records[1]?.body).toMatchObject({ lost: 1 });
    expect((await store.records.verify())[0]?.ok).toBe(true);
  });
});

describe("what is recorded", () => {
  const hide = (value: JsonValue): JsonValue =>
    JSON.parse(JSON.stringify(value).replaceAll("hunter2", "[redacted]")) as JsonValue;

  it("was redacted wherever words of others may be, and names the digest of what was given", async () => {
    const { audit, store } = await openAuditBench({ redact: hide });
    const given = { password: "hunter2", list: ["a hunter2 b"] };
    const trail = await audit.open(call({ arguments: given, context: { note: "hunter2" } }));
    const finding = { rule: "x", severity: "low", where: "hunter2", message: "hunter2" } as const;
    trail.decided({
      decision: "allow",
      reasons: [{ rule: "r", message: "has hunter2" }],
      grade: "L2",
      arguments: given,
      findings: [finding],
    });
    await trail.dispatched();
    await trail.closed(outcome({ message: "failed with hunter2", findings: [finding] }));
    const records = await store.records.query({});
    expect(JSON.stringify(records)).not.toContain("hunter2");
    expect(records[0]?.body).toMatchObject({
      argumentsDigest: digestJson(given),
      arguments: { password: "[redacted]" },
    });
  });

  it("is cut after it was redacted, and says so", async () => {
    const { audit, store } = await openAuditBench({ redact: hide });
    // Wherever the cut falls inside the secret, no half of it stays.
    for (let before = 16_340; before < 16_400; before += 1) {
      audit.refused(call({ arguments: { text: `${"x".repeat(before)}hunter2 and more to cut` } }), outcome());
    }
    audit.release();
    const cut = await store.records.query({ kinds: ["call"] });
    expect(cut).toHaveLength(60);
    expect(JSON.stringify(cut)).not.toMatch(/xh|hunt/);
    const trail = await audit.open(call({ arguments: { text: "x".repeat(20_000) } }));
    await trail.closed(outcome({ message: "m".repeat(1_000) }));
    const [opened, closed] = await store.records.query({ kinds: ["opened", "closed"] });
    expect(opened?.body["argumentsCut"]).toBe(true);
    expect(JSON.stringify(opened?.body).length).toBeLessThan(17_000);
    expect(closed?.body["message"]).toBe(`${"m".repeat(300)}…`);
  });

  it("is made all the same where redaction fails, without what could not be redacted", async () => {
    const { audit, store, faults } = await openAuditBench({
      redact: () => {
        throw new Error("redaction failed");
      },
    });
    const trail = await audit.open(call({ arguments: { secret: "hunter2" } }));
    await trail.closed(outcome());
    expect(faults).not.toEqual([]);
    const records = await store.records.query({});
    expect(records).toHaveLength(2);
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });

  it("is one record for a call that was refused at once, of whatever grade", async () => {
    const { audit, store } = await openAuditBench();
    audit.refused(
      call({ grade: null, server: null, tool: "nonsense" }),
      outcome({ outcome: "refused", code: "unknown_tool", effect: "none", attempts: 0 }),
    );
    audit.refused(
      call(),
      outcome({ outcome: "refused", code: "policy_denied", effect: "none", attempts: 0 }),
      {
        decision: "deny",
        grade: "L3",
        reasons: [{ rule: "guard.sql", message: "writes" }],
        code: "guard_denied",
      },
    );
    audit.release();
    expect(await store.records.query({})).toMatchObject([
      { kind: "call", body: { grade: null, server: null, closed: { code: "unknown_tool" } } },
      {
        kind: "call",
        body: { grade: "L2", decided: { decision: "deny", grade: "L3", code: "guard_denied" } },
      },
    ]);
    expect(await store.records.listOpen()).toEqual([]);
  });

  it("notes other events durably", async () => {
    const { audit, kinds } = await openAuditBench();
    await audit.note("config.changed", { by: "local" });
    expect(await kinds("")).toEqual(["config.changed"]);
  });
});

describe("closing the audit", () => {
  it("lets no call begin any more, nor one whose opening was under way", async () => {
    const { audit, store } = await openAuditBench();
    const opening = audit.open(call());
    const refused = expect(opening).rejects.toMatchObject({ code: "interrupted" });
    await audit.close();
    await refused;
    await expect(audit.open(call({ callId: "call 2" }))).rejects.toMatchObject({ code: "interrupted" });
    expect((await store.records.query({})).map(({ kind, body }) => [kind, body["effect"]])).toEqual([
      ["opened", undefined],
      ["closed", "none"],
    ]);
  });

  it("closes every open call as interrupted, with the effect that it may have had", async () => {
    const { audit, store } = await openAuditBench();
    const open = {
      reading: call({ callId: "reading", grade: "L0" }),
      asked: call({ callId: "asked" }),
      sent: call({ callId: "sent" }),
    };
    await (await audit.open(open.reading)).dispatched();
    await audit.open(open.asked);
    await (await audit.open(open.sent)).dispatched();
    await audit.close();
    const closings = await store.records.query({ kinds: ["closed"] });
    expect(
      new Map(closings.map(({ callId, body }) => [callId, [body["outcome"], body["code"], body["effect"]]])),
    ).toEqual(
      new Map([
        ["reading", ["cancelled", "interrupted", "none"]],
        ["asked", ["cancelled", "interrupted", "none"]],
        ["sent", ["cancelled", "interrupted", "unknown"]],
      ]),
    );
  });
});
