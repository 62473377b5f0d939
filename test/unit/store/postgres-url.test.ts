import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import { parsePostgresUrl } from "../../../src/store/postgres-url.ts";

const plain = {
  host: "db.example",
  port: 5432,
  user: "app",
  password: "",
  database: "team",
  schema: "portcullis",
  tls: { verifies: "authority and name", authorityFile: null, certificateFile: null, keyFile: null },
  label: "postgresql://app@db.example:5432/team",
};

describe("parsePostgresUrl", () => {
  it.each<[string, object]>([
    ["postgresql://app@db.example/team", {}],
    ["postgres://app@db.example/team", {}],
    [
      "postgresql://app:p%40ss%2F%23@db.example:6543/team",
      {
        password: "p@ss/#",
        port: 6543,
        label: "postgresql://app@db.example:6543/team",
      },
    ],
    ["postgresql://db.example/team?user=app", {}],
    ["postgresql://app@db.example/team?schema=other_1", { schema: "other_1" }],
    ["postgresql://app@db.example/team?sslmode=disable", { tls: null }],
    ["postgresql://app@db.example/team?sslmode=require", { tls: { ...plain.tls, verifies: "nothing" } }],
    [
      "postgresql://app@db.example/team?sslmode=verify-ca&sslrootcert=/ca.pem",
      {
        tls: { ...plain.tls, verifies: "authority", authorityFile: "/ca.pem" },
      },
    ],
    [
      "postgresql://app@db.example/team?sslcert=/c.pem&sslkey=/k.pem",
      {
        tls: { ...plain.tls, certificateFile: "/c.pem", keyFile: "/k.pem" },
      },
    ],
    [
      "postgresql://app@localhost/team",
      {
        host: "localhost",
        tls: null,
        label: "postgresql://app@localhost:5432/team",
      },
    ],
    [
      "postgresql://app@127.0.0.1/team?sslmode=verify-full",
      {
        host: "127.0.0.1",
        label: "postgresql://app@127.0.0.1:5432/team",
      },
    ],
    ["postgresql://app@[::1]/team", { host: "::1", tls: null, label: "postgresql://app@[::1]:5432/team" }],
    [
      "postgresql:///team?host=/run/postgresql&user=app",
      {
        host: "/run/postgresql",
        tls: null,
        label: "postgresql://app@[/run/postgresql]:5432/team",
      },
    ],
  ])("%s", (url, differs) => {
    expect(parsePostgresUrl(url)).toEqual({ ...plain, ...differs });
  });

  it.each([
    ["postgresql://app:hunter2hunter2@/team", "must be a URL like"],
    ["http://app:hunter2hunter2@db/team", "must be a URL like"],
    ["app:hunter2hunter2@db/team", "must be a URL like"],
    ["postgresql://:hunter2hunter2@db/team", "names no user"],
    ["postgresql://app:hunter2hunter2@db", "names no database"],
    ["postgresql://app:hunter2hunter2@one,two/team", "several hosts"],
    ["postgresql:///team?user=app", "names no host"],
    ["postgresql://app:hunter2hunter2%zz@db/team", "write `%25`"],
    ["postgresql://app:hunter2hunter2#x@db/team", "%23"],
    ["postgresql://app:hunter2hunter2@db/team?sslmode=prefer", "disable, require, verify-ca, verify-full"],
    ["postgresql://app:hunter2hunter2@db/team?sslcert=/c.pem", "together"],
    [
      "postgresql://app:hunter2hunter2@db/team?target_session_attrs=any",
      "does not take `target_session_attrs`",
    ],
    ["postgresql://app:hunter2hunter2@db/team?schema=", "`schema` is empty"],
    ["postgresql://app:hunter2hunter2@db/team?schema=a;drop", "small letters"],
  ])("refuses %s, and does not repeat the password", (url, said) => {
    let thrown: unknown;
    try {
      parsePostgresUrl(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(PortcullisError);
    expect(thrown).toMatchObject({ code: "config_invalid" });
    expect((thrown as Error).message).toContain(said);
    expect(inspect(thrown, { depth: 9 })).not.toContain("hunter2");
  });
});
