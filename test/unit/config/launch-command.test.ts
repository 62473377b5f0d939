import { describe, expect, it } from "vitest";
import { classifyLaunch } from "../../../src/config/launch-command.ts";

const SHA = "a".repeat(64);
const COMMIT = "b".repeat(40);

/** Splits a line at spaces: good enough for a table. */
function classify(line: string): ReturnType<typeof classifyLaunch> {
  const [command = "", ...args] = line.split(" ");
  return classifyLaunch(command, args);
}

describe("programs of one's own", () => {
  it.each([
    "node ./server.js",
    "./node_modules/.bin/mcp-server",
    "/opt/tools/server --flag",
    "python -m server",
    "npx --no-install mcp-server",
    "npx ./local-package",
    "npx file:../x",
    "npm run start",
    "pnpm start",
    "bun run server.ts",
    "uv run server.py",
    "uv run --directory /x python -m server",
    "uvx ./folder",
    "docker exec -i box server",
    "docker compose run server",
    "bash ./start-npx.sh",
    "deno run -A ./server.ts",
    "env A=1 node server.js",
    "cmd /c node server.js",
  ])("%s", (line) => {
    expect(classify(line)).toEqual({ kind: "program" });
  });
});

describe("packages with an exact version", () => {
  it.each([
    ["npx -y @scope/server@1.2.3 ./safe", "@scope/server", "1.2.3", 2],
    ["npx server@1.2.3-beta.1", "server", "1.2.3-beta.1", 1],
    ["npx --yes --package=@a/b@1.0.0 -- b --x", "@a/b", "1.0.0", 4],
    ["npx -p a@1.0.0 -p b@2.0.0 a-cli x", "a", "1.0.0", 5],
    ["/usr/local/bin/npx -y a@1.0.0", "a", "1.0.0", 2],
    ["NPX.CMD -y a@1.0.0", "a", "1.0.0", 2],
    ["cmd /c npx -y a@1.0.0 x", "a", "1.0.0", 4],
    ["cmd.exe /d /s /c npx -y a@1.0.0", "a", "1.0.0", 6],
    ["env -i A=1 npx -y a@1.0.0", "a", "1.0.0", 5],
    ["npm exec --yes -- a@1.0.0 x", "a", "1.0.0", 4],
    ["pnpm dlx a@1.0.0", "a", "1.0.0", 2],
    ["yarn dlx -p a@1.0.0 a", "a", "1.0.0", 4],
    ["bunx --bun a@1.0.0", "a", "1.0.0", 2],
    ["bun x a@1.0.0", "a", "1.0.0", 2],
    ["uvx mcp-server-git@2025.1.14 --repo x", "mcp-server-git", "2025.1.14", 1],
    ["uvx --from mcp[cli]==1.2.0 mcp run", "mcp[cli]", "1.2.0", 3],
    ["uvx --python 3.12 --with a==1,b[x,y]==2.0 server==3.0.1", "server", "3.0.1", 5],
    [`uvx --from git+https://github.com/a/b@${COMMIT} b`, "git+https://github.com/a/b", COMMIT, 3],
    ["uv tool run server==1.0", "server", "1.0", 3],
    ["uv run --with mcp==1.2.0 server.py", "mcp", "1.2.0", 4],
    ["pipx run --spec a==1.0 a-cli", "a", "1.0", 4],
    ["pipx run a==1.0", "a", "1.0", 2],
    [`docker run -i --rm -e TOKEN ghcr.io/a/b@sha256:${SHA}`, "ghcr.io/a/b", `sha256:${SHA}`, 6],
    [
      "docker run -it --rm -eA=1 -v/a:/b --network=none localhost:5000/a/b:1.2.3 x",
      "localhost:5000/a/b",
      "1.2.3",
      7,
    ],
    [`podman container run a@sha256:${SHA}`, "a", `sha256:${SHA}`, 3],
    ["deno run -A npm:@a/b@1.0.0/cli x", "@a/b", "1.0.0", 3],
    ["deno run jsr:@a/b@1.0.0", "@a/b", "1.0.0", 2],
  ])("%s", (line, name, version, argsFrom) => {
    expect(classify(line)).toMatchObject({
      kind: "package",
      reason: null,
      package: { name, version, argsFrom },
    });
  });
});

describe("packages without an exact version", () => {
  it.each([
    "npx -y server",
    "npx -y @scope/server",
    "npx -y server@latest",
    "npx -y server@1",
    "npx -y server@^1.2.3",
    "npx -y server@1.2.x",
    "npx -y server@npm:other@1.2.3",
    "npx -y github:a/b",
    "npx -y a/b",
    "npx -y https://a.example/b.tgz",
    "npx -y ${env:PACKAGE}",
    "npx -y server@${env:VERSION}",
    "npx -p a@1.0.0 -p b a-cli",
    "npx --package a cmd",
    "pnpm dlx server",
    "uvx server",
    "uvx server@latest",
    "uvx server>=1.0",
    "uvx server==1.*",
    "uvx --from git+https://github.com/a/b b",
    "uvx --from git+https://github.com/a/b@main b",
    "uvx --with extra server==1.0",
    "uv run --with mcp server.py",
    "pipx run server",
    "docker run -i a/b",
    "docker run -i a/b:latest",
    "docker run -i a/b:1",
    "docker run -i localhost:5000/a/b",
    "docker run -i a/b@sha256:abc",
    "deno run npm:a",
    "cmd /c npx -y server",
  ])("%s", (line) => {
    const verdict = classify(line);
    expect(verdict.kind).toBe("package");
    expect(verdict.kind === "package" && verdict.reason).toBeTruthy();
    expect(verdict.kind === "package" && verdict.package.version).toBeNull();
  });
});

describe("lines that hide what is fetched", () => {
  it.each([
    "npx",
    "npx -y",
    "npx -c server@1.0.0",
    "npx --unknown a@1.0.0 b",
    "uvx --strange a==1.0",
    "uv run https://a.example/x.py",
    "docker run",
    "docker run --strange a@sha256:x b",
    "deno run https://a.example/x.ts",
    "bash -c npx\u00a0server",
    "sh -lc uvx\u00a0server",
    "powershell -Command npx\u00a0server",
    "env -S npx\u00a0server",
  ])("%s", (line) => {
    expect(classify(line.replaceAll("\u00a0", " ")).kind).toBe("unclear");
  });
});
