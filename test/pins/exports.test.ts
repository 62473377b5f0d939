/** The names that a user of the package can import. */
import { expect, it } from "vitest";
import * as adapters from "../../src/adapters/index.ts";
import * as portcullis from "../../src/index.ts";
import * as otel from "../../src/telemetry/otel.ts";

it("the library exports these values and no others", () => {
  expect(Object.keys(portcullis).sort()).toEqual([
    "PortcullisError",
    "errorCodes",
    "isErrorCode",
    "openHost",
  ]);
});

it("the adapters export these values and no others", () => {
  expect(Object.keys(adapters).sort()).toEqual(["toAiSdkTools", "toLangChainTools"]);
});

it("what observes a host exports this and nothing else", () => {
  expect(Object.keys(otel)).toEqual(["observeHost"]);
});
