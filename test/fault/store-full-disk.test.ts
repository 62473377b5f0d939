import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { RecordInput } from "../../src/store/store.ts";
import { checkIntegrity, tempDir } from "./store-processes.ts";

const record = (number: number): RecordInput => ({
  callId: `call ${number}`,
  kind: "opened",
  at: number,
  body: { number },
});

describe("a full disk", () => {
  it("refuses what does not fit, keeps what was acknowledged, and works again when there is room", async () => {
    const dir = tempDir();
    const store = await openSqliteStore({
      dir,
      role: "test",
      clock: systemClock,
      random: systemRandom,
      maxBytes: 400_000,
    });
    const acknowledged: number[] = [];
    let refusal: unknown;
    await store.documents.put("last-good", "ballast", "x".repeat(50_000));
    for (let number = 1; refusal === undefined && number < 100_000; number += 1) {
      await store.records.append(record(number), "durable").then(
        () => acknowledged.push(number),
        (error: unknown) => {
          refusal = error;
        },
      );
    }
    expect(refusal).toMatchObject({ code: "audit_unavailable", data: { resultCode: 13 } });
    expect(acknowledged.length).toBeGreaterThan(100);
    await expect(store.documents.put("pins", "big", "x".repeat(100_000))).rejects.toMatchObject({
      code: "state_unusable",
      data: { resultCode: 13 },
    });
    await expect(store.records.append(record(0), "batched")).rejects.toMatchObject({
      code: "audit_unavailable",
    });
    const stored: unknown[] = [];
    for await (const { body } of store.records.scan({})) stored.push(body["number"]);
    expect(stored).toEqual(acknowledged);

    expect(await store.documents.delete("last-good", "ballast")).toBe(true);
    await store.records.append(record(-1), "durable");
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: acknowledged.length + 1 }]);
    await store.close();
    expect(checkIntegrity(dir)).toBe("ok");
  });

  it("takes one that is too big out of its group and commits the others", async () => {
    const store = await openSqliteStore({
      dir: tempDir(),
      role: "test",
      clock: systemClock,
      random: systemRandom,
      maxBytes: 400_000,
    });
    const small = store.records.append(record(1), "durable");
    const big = store.documents.put("last-good", "big", "x".repeat(1_000_000));
    const alsoSmall = store.documents.put("pins", "a", 1);
    await expect(big).rejects.toMatchObject({ code: "state_unusable" });
    await small;
    expect((await alsoSmall)?.version).toBe(1);
    await store.close();
  });
});
