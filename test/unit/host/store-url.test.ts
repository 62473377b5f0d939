import { describe, expect, it } from "vitest";
import { createLateResolver } from "../../../src/config/secrets.ts";
import { resolveStoreUrl } from "../../../src/host/store-url.ts";

const resolver = createLateResolver({
  server: null,
  env: {
    PW: "a/b@c:d",
    USER_NAME: "team app",
    HOST: "db.example:6543",
    URL: "postgresql://a:w%2Fx%2Fy@db/x",
  },
  baseDir: "/",
  homeDir: "/home/me",
  platform: "linux",
});

describe("resolveStoreUrl", () => {
  it.each([
    ["postgresql://${env:USER_NAME}:${env:PW}@db/x", "postgresql://team%20app:a%2Fb%40c%3Ad@db/x"],
    ["postgresql://me:${env:PW}@${env:HOST}/x", "postgresql://me:a%2Fb%40c%3Ad@db.example:6543/x"],
    ["${env:URL}", "postgresql://a:w%2Fx%2Fy@db/x"],
    ["postgresql://me@db/x", "postgresql://me@db/x"],
  ])("%s", async (template, value) => {
    expect((await resolveStoreUrl({ template }, resolver)).value).toBe(value);
  });

  it("names the password as a secret, wherever it came from", async () => {
    const secretsOf = async (template: string, reveal?: () => string): Promise<readonly string[]> =>
      (await resolveStoreUrl({ template, ...(reveal === undefined ? {} : { reveal }) }, resolver)).secrets;
    expect(await secretsOf("postgresql://me:${env:PW}@db/x")).toContain("a/b@c:d");
    expect(await secretsOf("${env:URL}")).toContain("w%2Fx%2Fy");
    expect(await secretsOf("postgresql://me:***@db/x", () => "postgresql://me:literal@db/x")).toContain(
      "literal",
    );
  });

  it("says where a reference is missing", async () => {
    await expect(
      resolveStoreUrl({ template: "postgresql://me:${env:NONE}@db/x" }, resolver),
    ).rejects.toMatchObject({
      code: "secret_unresolved",
    });
  });
});
