import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemRandom } from "../../../src/base/random.ts";
import { openTokens } from "../../../src/gateway/tokens.ts";
import {
  findGateway,
  gatewayFilePath,
  gatewayProof,
  readGatewayFile,
} from "../../../src/operations/gateway-file.ts";

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "portcullis-tokens-")), "state");
});
afterEach(() => rmSync(join(dir, ".."), { recursive: true, force: true }));

const URL_1 = "http://127.0.0.1:7420";

describe("openTokens", () => {
  it("makes two tokens that have nothing in common, and writes nothing before there is something to find", () => {
    const { tokens } = openTokens(dir, systemRandom, "/etc/portcullis.json");
    expect(tokens.mcp).toMatch(/^[\w-]{43}$/);
    expect(tokens.admin).toMatch(/^[\w-]{43}$/);
    expect(tokens.mcp).not.toBe(tokens.admin);
    expect(readdirSync(dir)).toEqual([]);
  });

  it("announces itself in a file of mode 0600, and leaves the tokens when it ends", () => {
    const first = openTokens(dir, systemRandom, "/etc/portcullis.json");
    first.announce(URL_1);
    expect(statSync(gatewayFilePath(dir)).mode & 0o777).toBe(0o600);
    expect(findGateway(dir)).toEqual({
      pid: process.pid,
      url: URL_1,
      adminToken: first.tokens.admin,
      mcpToken: first.tokens.mcp,
      configFile: "/etc/portcullis.json",
    });
    first.release();
    expect(findGateway(dir)).toBeUndefined();
    expect(openTokens(dir, systemRandom, "/etc/portcullis.json").tokens).toEqual(first.tokens);
    expect(readdirSync(dir)).toEqual(["gateway.json"]);
  });

  it("does not take back what another process has announced meanwhile", () => {
    const tokens = openTokens(dir, systemRandom, "/etc/portcullis.json");
    tokens.announce(URL_1);
    const file = readGatewayFile(dir);
    writeFileSync(gatewayFilePath(dir), JSON.stringify({ ...file, pid: 1 }), { mode: 0o600 });
    tokens.release();
    expect(readGatewayFile(dir)?.pid).toBe(1);
  });

  it("makes new tokens where others could have read the old ones", () => {
    const first = openTokens(dir, systemRandom, "/etc/portcullis.json");
    first.announce(URL_1);
    chmodSync(gatewayFilePath(dir), 0o644);
    const second = openTokens(dir, systemRandom, "/etc/portcullis.json");
    expect(second.tokens.mcp).not.toBe(first.tokens.mcp);
    second.announce(URL_1);
    expect(statSync(gatewayFilePath(dir)).mode & 0o777).toBe(0o600);
  });

  it.each([
    "",
    "{",
    "[]",
    '{"pid":0,"url":"x","adminToken":"a","mcpToken":"b"}',
    '{"pid":-1,"url":"x","adminToken":"a","mcpToken":"b"}',
  ])("takes %j for no file", (text) => {
    openTokens(dir, systemRandom, "/etc/portcullis.json");
    writeFileSync(gatewayFilePath(dir), text, { mode: 0o600 });
    expect(readGatewayFile(dir)).toBeUndefined();
    expect(findGateway(dir)).toBeUndefined();
    expect(openTokens(dir, systemRandom, "/etc/portcullis.json").tokens.mcp).toMatch(/^[\w-]{43}$/);
  });

  it("refuses a directory that others may write", () => {
    openTokens(dir, systemRandom, "/etc/portcullis.json");
    chmodSync(dir, 0o777);
    expect(() => openTokens(dir, systemRandom, "/etc/portcullis.json")).toThrow(
      expect.objectContaining({ code: "state_unusable" }),
    );
  });
});

describe("gatewayProof", () => {
  it("depends on token and nonce, and is not the token", () => {
    const proofs = new Set([
      gatewayProof("a", "1"),
      gatewayProof("a", "2"),
      gatewayProof("b", "1"),
      "a",
      "b",
    ]);
    expect(proofs.size).toBe(5);
    expect(gatewayProof("a", "1")).toBe(gatewayProof("a", "1"));
  });
});

it("the file is one JSON line, as commands of other versions read it", () => {
  openTokens(dir, systemRandom, "/etc/portcullis.json").announce(URL_1);
  expect(Object.keys(JSON.parse(readFileSync(gatewayFilePath(dir), "utf8")) as object).sort()).toEqual([
    "adminToken",
    "configFile",
    "mcpToken",
    "pid",
    "url",
  ]);
});
