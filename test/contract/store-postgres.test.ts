import { afterAll, beforeAll, describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { storeContract, type ContractState } from "../../src/testing/index.ts";
import { postgresSuite, startPostgres, type PostgresServer } from "../support/postgres-server.ts";
import { openPeerStore } from "./store-peer.ts";

postgresSuite("PostgreSQL store", () => {
  let server: PostgresServer;
  let serial = 0;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.end());

  /** A fresh state is a schema of its own. */
  const createState = async (): Promise<ContractState & { readonly url: string }> => {
    serial += 1;
    const url = server.url(`schema=state_${serial}`);
    return {
      url,
      open: () => openPostgresStore({ url, role: "test", clock: systemClock, random: systemRandom }),
      dispose: () => Promise.resolve(),
    };
  };

  const createSharedState = async (): Promise<ContractState> => {
    const state = await createState();
    return { ...state, openOther: () => openPeerStore(state.url) };
  };

  describe("several in one process", () => {
    for (const { name, run } of storeContract(createState)) it(name, run);
  });

  describe("shared by two processes", () => {
    for (const { name, run } of storeContract(createSharedState)) it(name, run);
  });
});
