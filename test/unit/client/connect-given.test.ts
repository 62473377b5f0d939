import { describe, expect, it } from "vitest";
import { connectHttp } from "../../../src/client/connect-http.ts";
import { connectStdio } from "../../../src/client/connect-stdio.ts";

const options = { clientInfo: { name: "test", version: "1" } };
const any = (value: unknown): never => value as never;

describe("what is handed over without types", () => {
  it.each<[string, unknown]>([
    ["command", undefined],
    ["command", { command: 42, env: {}, cwd: "/" }],
    ["args", { command: "x", args: "y", env: {}, cwd: "/" }],
    ["args", { command: "x", args: [1], env: {}, cwd: "/" }],
    ["env", { command: "x", cwd: "/" }],
    ["env", { command: "x", env: { A: 1 }, cwd: "/" }],
    ["cwd", { command: "x", env: {} }],
  ])("a process whose `%s` is wrong is a usage error that names it", async (name, target) => {
    await expect(connectStdio(any(target), options)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(`\`${name}\``),
    });
  });

  it.each([{}, { url: 42 }, { url: "http://127.0.0.1:1/mcp" }])(
    "an address that is none: %j",
    async (target) => {
      await expect(connectHttp(any(target), options)).rejects.toMatchObject({ code: "usage" });
    },
  );
});
