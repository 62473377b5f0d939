import { describe, expect, it } from "vitest";
import { classifyLaunch } from "../../../src/config/launch-command.ts";
import { findPackageArgument } from "../../../src/config/package-argument.ts";

function find(line: string): string {
  const [command = "", ...args] = line.split(" ");
  const verdict = classifyLaunch(command, args);
  if (verdict.kind !== "package") return verdict.kind;
  const found = findPackageArgument(command, args, verdict.package);
  if (found.kind === "unclear") return `unclear: ${found.reason}`;
  const { index, prefix, spec, program, registry } = found;
  const more = [program, registry].filter((one) => one !== null).map((one) => ` ${one}`);
  return `${index} ${prefix}|${spec}${more.join("")}`;
}

describe("findPackageArgument", () => {
  it.each([
    ["npx a", "0 |a"],
    ["npx -y a@1.0.0 x y", "1 |a@1.0.0"],
    ["npx -y -- @s/a@^1 -p z", "2 |@s/a@^1"],
    ["npx --package=@s/a@1.0.0 tool x", "0 --package=|@s/a@1.0.0 tool"],
    ["npx -p a tool", "1 |a tool"],
    ["npx --registry https://r.example a", "2 |a https://r.example"],
    ["npm exec -- a", "2 |a"],
    ["pnpm dlx a@latest", "1 |a@latest"],
    ["bunx a", "0 |a"],
    ["/usr/bin/npx a", "0 |a"],
    ["npx -p a -p b c", "unclear: several packages are named: one can be locked"],
    ["npx --node-options x a", "unclear: `--node-options` changes how it is started: leave it out"],
    ["env A=1 npx a", "unclear: write `npx` itself as the `command`, not `env`"],
    ["deno run npm:a@1.0.0", "unclear: write `npx` itself as the `command`, not `deno`"],
  ])("%s", (line, found) => {
    expect(find(line)).toBe(found);
  });

  it.each([
    "npx git+https://x.example/a.git",
    "npx user/repo",
    "npx a@npm:b@1.0.0",
    "npx ${env:A}",
    "npx https://x.example/a.tgz",
  ])("%s is not by name and version", (line) => {
    expect(find(line)).toMatch(/^unclear: it is named by an address/);
  });
});
