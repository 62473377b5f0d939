import { expect, it } from "vitest";
import * as entry from "../../../src/client/index.ts";

it("the public client entry exports these names and no others", () => {
  expect(Object.keys(entry).sort()).toEqual([
    "PortcullisError",
    "connectHttp",
    "connectStdio",
    "createClient",
    "createMemoryTransportPair",
    "createStdioTransport",
    "errorCodes",
    "systemClock",
    "systemRandom",
  ]);
});
