import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import { fromPostgresError, isEcho, isLost, isPassing } from "../../../src/store/postgres-errors.ts";
import { RowFault } from "../../../src/store/rows.ts";

const reported = (code: string): Error => Object.assign(new Error("as told"), { code, severity: "ERROR" });
const refused = (code: string): Error => Object.assign(new Error("connect"), { code });

describe("errors of a database", () => {
  it.each<[string, Error, boolean, boolean]>([
    ["a socket that was refused", refused("ECONNREFUSED"), true, true],
    ["a code of Node.js that is as long as one of SQL", refused("EPIPE"), true, true],
    ["what the driver says of a connection", new Error("Connection terminated unexpectedly"), true, true],
    ["a shutdown", reported("57P01"), true, true],
    ["a start", reported("57P03"), true, true],
    ["too many connections", reported("53300"), true, true],
    ["a broken protocol", reported("08P01"), true, true],
    ["a transaction that stood still", reported("25P03"), true, true],
    ["a deadlock", reported("40P01"), false, true],
    ["a statement that took too long", reported("57014"), false, false],
    ["a wrong password", reported("28P01"), false, false],
    ["a full disk", reported("53100"), false, false],
    ["a fault of ours", new TypeError("x is undefined"), false, false],
    ["a damaged row", new RowFault("x"), false, false],
    ["an error of ours", new PortcullisError("audit_unavailable", "x"), false, false],
  ])("%s", (_name, error, lost, passing) => {
    expect(isLost(error)).toBe(lost);
    expect(isPassing(error)).toBe(passing);
  });

  it("knows the echo of a failed transaction", () => {
    expect(isEcho(reported("25P02"))).toBe(true);
    expect(isEcho(reported("23505"))).toBe(false);
  });

  it.each<[Error, string]>([
    [reported("28P01"), "the password is wrong"],
    [reported("XX999"), "as told (XX999)"],
    [refused("ECONNREFUSED"), "nobody listens there"],
    [new RowFault("column `version` holds a value of the wrong type"), "it is damaged"],
    [new Error("timeout exceeded"), "timeout exceeded"],
  ])("%s is told with the database", (error, said) => {
    const told = fromPostgresError(error, "postgresql://app@db:5432/team");
    expect(told).toMatchObject({ code: "state_unusable", cause: error });
    expect(told.message).toContain("`postgresql://app@db:5432/team` is not usable: ");
    expect(told.message).toContain(said);
  });

  it("keeps what is ours, and only says what it means for a record", () => {
    const ours = new PortcullisError("interrupted", "closed");
    expect(fromPostgresError(ours, "x", "audit_unavailable")).toBe(ours);
    const unusable = new PortcullisError("state_unusable", "gone");
    expect(fromPostgresError(unusable, "x")).toBe(unusable);
    expect(fromPostgresError(unusable, "x", "audit_unavailable")).toMatchObject({
      code: "audit_unavailable",
      message: "gone",
    });
  });
});
