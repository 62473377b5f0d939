/** The package `server-everything` through a whole host: each tool, resource and prompt, right for the person and for the model. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import type { Progress } from "../../src/protocol/types.ts";

const script = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

let host: Host;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "portcullis-everything-"));
  host = await openHost({
    config: {
      mcpServers: {
        everything: {
          command: process.execPath,
          args: [script, "stdio"],
          source: "official",
          tools: { "*": "L0" },
        },
      },
    },
    stateDir: dir,
  });
});
afterAll(async () => {
  await host.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Arguments for each tool, and the kinds of blocks that come. */
const CALLS: Readonly<Record<string, readonly [JsonObject, readonly string[]]>> = {
  echo: [{ message: "grüezi 👋" }, ["text"]],
  "get-annotated-message": [{ messageType: "error", includeImage: true }, ["text", "image"]],
  "get-env": [{}, ["text"]],
  "get-resource-links": [{ count: 2 }, ["text", "resource_link", "resource_link"]],
  "get-resource-reference": [{ resourceType: "Blob", resourceId: 1 }, ["text", "resource", "text"]],
  "get-structured-content": [{ location: "Chicago" }, ["text"]],
  "get-sum": [{ a: 2, b: 3 }, ["text"]],
  "get-tiny-image": [{}, ["text", "image", "text"]],
  "gzip-file-as-resource": [
    { name: "a.gz", data: "data:text/plain;base64,SGVsbG8=", outputType: "resource" },
    ["resource"],
  ],
  "simulate-research-query": [{ topic: "gates" }, ["text"]],
  "toggle-simulated-logging": [{}, ["text"]],
  "toggle-subscriber-updates": [{}, ["text"]],
  "trigger-long-running-operation": [{ duration: 0.2, steps: 4 }, ["text"]],
};

const call = async (tool: string, onProgress?: (progress: Progress) => void): Promise<Outcome> =>
  host.call({ server: "everything", tool }, CALLS[tool]?.[0] ?? {}, {
    wait: false,
    ...(onProgress === undefined ? {} : { onProgress }),
  });

describe("every tool", { timeout: 60_000 }, () => {
  it("is listed, usable, and known to this test", async () => {
    const tools = await host.tools();
    expect(tools.filter(({ quarantine }) => quarantine !== null)).toEqual([]);
    expect(tools.map(({ tool }) => tool).sort()).toEqual(Object.keys(CALLS).sort());
  });

  it.each(Object.keys(CALLS))("%s", async (tool) => {
    const outcome = await call(tool);
    expect(outcome).toMatchObject({ outcome: "completed", code: null, findings: [] });
    expect(outcome.content.map(({ type }) => type)).toEqual(CALLS[tool]?.[1]);
    expect(outcome.model.startsWith(`Result of tool \`${tool}\` of server \`everything\``)).toBe(true);
    expect(outcome.model.match(/<\/untrusted [0-9a-f]{16}>/g)).toHaveLength(1);
  });

  it("images are whole for the person and only named to the model", async () => {
    const outcome = await call("get-tiny-image");
    const image = outcome.content.find(({ type }) => type === "image");
    if (image?.type !== "image") throw new Error("there is no image");
    expect(image.mimeType).toBe("image/png");
    expect(Buffer.from(image.data, "base64").subarray(1, 4).toString()).toBe("PNG");
    expect(outcome.model).toContain("[image of type image/png");
    expect(outcome.model).not.toContain(image.data.slice(0, 40));
  });

  it("links are named and not opened, embedded resources are whole, structured data comes once", async () => {
    const links = await call("get-resource-links");
    expect(links.model.match(/not opened/g)).toHaveLength(2);
    const blob = (await call("get-resource-reference")).content.find(({ type }) => type === "resource");
    expect(blob).toMatchObject({ resource: { uri: expect.any(String), blob: expect.any(String) } });
    const structured = await call("get-structured-content");
    expect(structured.structured).toMatchObject({ conditions: expect.any(String) });
    expect(structured.model.match(/"conditions"/g)).toHaveLength(1);
  });

  it("a long one tells how far it is, in order", async () => {
    const seen: number[] = [];
    const outcome = await call("trigger-long-running-operation", ({ progress }) => seen.push(progress));
    expect(outcome.outcome).toBe("completed");
    expect(seen).toEqual([1, 2, 3, 4]);
  });
});

describe("resources and prompts", { timeout: 60_000 }, () => {
  it("static, text and binary resources come right in both channels [RPC-04]", async () => {
    const text = await host.read("everything", "demo://resource/dynamic/text/1");
    expect(text).toMatchObject({ outcome: "completed", content: [{ type: "resource" }] });
    expect(text.model).toContain("This is a plaintext resource");
    const blob = await host.read("everything", "demo://resource/dynamic/blob/1");
    const [block] = blob.content;
    if (block?.type !== "resource") throw new Error("there is no resource");
    expect(Buffer.from(block.resource.blob ?? "", "base64").toString("base64")).toBe(block.resource.blob);
    expect(blob.model).not.toContain(block.resource.blob ?? " ");
    const missing = await host.read("everything", "demo://resource/nowhere");
    expect(missing.outcome).toBe("protocol_error");
  });

  it("prompts with and without arguments are a server's text, framed [RPC-05] [RPC-06]", async () => {
    const prompts: [string, JsonObject][] = [
      ["simple-prompt", {}],
      ["args-prompt", { city: "Bern", state: "BE" }],
      ["completable-prompt", { department: "Engineering", name: "Alice" }],
      ["resource-prompt", { resourceType: "Text", resourceId: "1" }],
    ];
    for (const [name, args] of prompts) {
      const outcome = await host.prompt("everything", name, args);
      expect([name, outcome.outcome]).toEqual([name, "completed"]);
      expect(outcome.model).toMatch(/^Prompt `[^`]+` of server `everything`/);
      expect(outcome.model.match(/<\/untrusted [0-9a-f]{16}>/g)).toHaveLength(1);
      expect(outcome.content.length).toBeGreaterThan(0);
    }
    expect((await host.prompt("everything", "args-prompt", { city: "Bern" })).model).toContain("Bern");
  });
});
