import { expect, it } from "vitest";
import { soakKills } from "../support/kill-soak.ts";

// The long run is `npm run soak -- killed`.
it(
  "hundreds of calls while the server is killed: all end, nothing is written twice, nothing is told wrongly",
  { timeout: 120_000 },
  async () => {
    const report = await soakKills({ calls: 400, killEvery: 60 });
    expect(report.wrong).toEqual([]);
    expect(report.calls).toBe(400);
    expect(report.kills).toBeGreaterThanOrEqual(4);
    expect(report.starts).toBe(report.kills + 1);
    expect(report.written).toBeGreaterThan(150);
  },
);
