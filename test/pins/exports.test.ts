/** The names that a user of the package can import. */
import { expect, it } from "vitest";
import * as portcullis from "../../src/index.ts";

it("the library exports these values and no others", () => {
  expect(Object.keys(portcullis).sort()).toEqual([
    "PortcullisError",
    "errorCodes",
    "isErrorCode",
    "openHost",
  ]);
});
