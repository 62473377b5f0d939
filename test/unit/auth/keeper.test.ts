import { afterEach, describe, expect, it } from "vitest";
import { createKeeper, type Keeper, type Renew } from "../../../src/auth/keeper.ts";
import { assumeServer } from "../../../src/auth/server-metadata.ts";
import type { TokenSet, TokenStore } from "../../../src/auth/tokens.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { PortcullisError } from "../../../src/errors.ts";
import type { Leases } from "../../../src/store/store.ts";

const clock = createManualClock();
const tokens = (accessToken: string, more: Partial<TokenSet> = {}): TokenSet => ({
  accessToken,
  tokenType: "bearer",
  obtainedAt: clock.now(),
  expiresAt: null,
  refreshToken: "r",
  scopes: [],
  requested: [],
  resource: "https://h.example",
  server: assumeServer("https://as.example"),
  client: { clientId: "c", method: "none", secret: null, source: "registered" },
  dpopKey: null,
  ...more,
});

/** A store that several keepers share, as processes do, with leases in turn. */
function createShared(first?: TokenSet) {
  let stored = first;
  const log: string[] = [];
  let tail = Promise.resolve();
  const store: TokenStore = {
    read: async () => stored,
    async write(next) {
      stored = next;
      log.push(`write ${next.accessToken}`);
    },
    async delete() {
      stored = undefined;
    },
  };
  const leases: Leases = {
    async acquire(name) {
      const before = tail;
      const { promise, resolve } = Promise.withResolvers<void>();
      tail = before.then(() => promise);
      await before;
      log.push("lease");
      return {
        name,
        signal: new AbortController().signal,
        async release() {
          log.push("release");
          resolve();
        },
      };
    },
  };
  return { store, leases, log, current: () => stored };
}

const keepers: Keeper[] = [];
afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.close(0);
});

function keep(
  shared: ReturnType<typeof createShared>,
  renewAhead: (tokens: TokenSet) => Renew | undefined = () => undefined,
): Keeper {
  const keeper = createKeeper({
    name: "auth test",
    store: shared.store,
    leases: shared.leases,
    clock,
    renewAhead,
    onTokens: ({ accessToken }) => void shared.log.push(`told ${accessToken}`),
  });
  keepers.push(keeper);
  return keeper;
}

const refused = (accessToken: string): boolean => accessToken === "old";

describe("replace", () => {
  it("renews once for all that ask, and has stored before anybody has it", async () => {
    const shared = createShared(tokens("old"));
    const keeper = keep(shared);
    let renewals = 0;
    const renew: Renew = async (before) => {
      renewals += 1;
      expect(before?.accessToken).toBe("old");
      return tokens("new");
    };
    const all = await Promise.all(
      Array.from({ length: 10 }, () => keeper.replace(refused, renew, undefined)),
    );
    expect(all.map(({ accessToken }) => accessToken)).toEqual(Array.from({ length: 10 }, () => "new"));
    expect(renewals).toBe(1);
    expect(shared.log).toEqual(["lease", "told old", "told new", "write new", "release"]);
    expect((await keeper.current(undefined))?.accessToken).toBe("new");
  });

  it("takes what another has got meanwhile", async () => {
    const shared = createShared(tokens("old"));
    let renewals = 0;
    const renew: Renew = async () => {
      renewals += 1;
      return tokens(`new ${renewals}`);
    };
    const got = await Promise.all(
      [keep(shared), keep(shared), keep(shared)].map((keeper) => keeper.replace(refused, renew, undefined)),
    );
    expect(new Set(got.map(({ accessToken }) => accessToken))).toEqual(new Set(["new 1"]));
  });

  it("takes tokens that were stored while none had been sent: somebody logged in", async () => {
    const shared = createShared(tokens("theirs"));
    const fails: Renew = async () => {
      throw new Error("was asked");
    };
    expect((await keep(shared).replace(() => false, fails, undefined)).accessToken).toBe("theirs");
  });

  it("does not take stored tokens that are about to end", async () => {
    const shared = createShared(tokens("theirs", { expiresAt: clock.now() }));
    expect(
      (
        await keep(shared).replace(
          () => false,
          async () => tokens("mine"),
          undefined,
        )
      ).accessToken,
    ).toBe("mine");
  });

  it("lets a caller go without ending the renewal", async () => {
    const shared = createShared(tokens("old"));
    const keeper = keep(shared);
    const { promise, resolve } = Promise.withResolvers<TokenSet>();
    const controller = new AbortController();
    const mine = keeper.replace(refused, () => promise, controller.signal);
    const theirs = keeper.replace(refused, () => promise, undefined);
    controller.abort(new Error("gave up"));
    await expect(mine).rejects.toThrow("gave up");
    resolve(tokens("new"));
    expect((await theirs).accessToken).toBe("new");
    expect(shared.current()?.accessToken).toBe("new");
  });

  it("leaves the store as it is where a renewal fails, and can be asked again", async () => {
    const shared = createShared(tokens("old"));
    const keeper = keep(shared);
    const down: Renew = async () => {
      throw new PortcullisError("http_error", "down");
    };
    await expect(keeper.replace(refused, down, undefined)).rejects.toMatchObject({ code: "http_error" });
    expect(shared.current()?.accessToken).toBe("old");
    expect(shared.log).toContain("release");
    expect((await keeper.replace(refused, async () => tokens("new"), undefined)).accessToken).toBe("new");
  });

  it("gives up after a minute, whatever the server does", async () => {
    const shared = createShared(tokens("old"));
    const stuck: Renew = (_before, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    const work = keep(shared).replace(refused, stuck, undefined);
    work.catch(() => undefined);
    await clock.advance(60_000);
    await expect(work).rejects.toMatchObject({ code: "http_error" });
    expect(shared.log).toContain("release");
  });

  it("waits for a renewal at its end, and ends it after the grace", async () => {
    const shared = createShared(tokens("old"));
    const keeper = keep(shared);
    let reason: unknown;
    const stuck: Renew = (_before, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener(
          "abort",
          () => {
            reason = signal.reason;
            reject(signal.reason as Error);
          },
          { once: true },
        );
      });
    keeper.replace(refused, stuck, undefined).catch(() => undefined);
    await clock.advance(0);
    const closing = keeper.close(3_000);
    await clock.advance(2_999);
    expect(reason).toBeUndefined();
    await clock.advance(1);
    await closing;
    expect(reason).toMatchObject({ code: "interrupted" });
  });
});

describe("current [AEXT-05]", () => {
  it("reads the store once, and again when told to", async () => {
    const shared = createShared(tokens("one"));
    const keeper = keep(shared);
    await keeper.current(undefined);
    await shared.store.write(tokens("two"));
    expect((await keeper.current(undefined))?.accessToken).toBe("one");
    keeper.reload();
    expect((await keeper.current(undefined))?.accessToken).toBe("two");
  });

  it("renews ahead of the end", async () => {
    const shared = createShared(tokens("old", { expiresAt: clock.now() + 100_000 }));
    const keeper = keep(shared, () => async () => tokens("new"));
    await clock.advance(89_999);
    expect((await keeper.current(undefined))?.accessToken).toBe("old");
    await clock.advance(1);
    expect((await keeper.current(undefined))?.accessToken).toBe("new");
  });

  it("uses what is still good where the server is down, and fails only after the end", async () => {
    const shared = createShared(tokens("old", { expiresAt: clock.now() + 100_000 }));
    const keeper = keep(shared, () => async () => {
      throw new PortcullisError("http_error", "down");
    });
    await clock.advance(95_000);
    expect((await keeper.current(undefined))?.accessToken).toBe("old");
    await clock.advance(5_000);
    await expect(keeper.current(undefined)).rejects.toMatchObject({ code: "http_error" });
  });

  it("sends nothing that has ended and cannot be renewed", async () => {
    const shared = createShared(tokens("old", { expiresAt: clock.now() + 1_000 }));
    const keeper = keep(shared);
    await clock.advance(999);
    expect((await keeper.current(undefined))?.accessToken).toBe("old");
    await clock.advance(1);
    expect(await keeper.current(undefined)).toBeUndefined();
  });

  it("tries the store again after it failed", async () => {
    const shared = createShared(tokens("one"));
    let fails = true;
    const keeper = keep({
      ...shared,
      store: {
        ...shared.store,
        async read() {
          if (fails) throw new Error("busy");
          return shared.current();
        },
      },
    });
    await expect(keeper.current(undefined)).rejects.toThrow("busy");
    fails = false;
    expect((await keeper.current(undefined))?.accessToken).toBe("one");
  });
});
