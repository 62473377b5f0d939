import { request as httpRequest } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { CallbackReceiver } from "../../../src/auth/callback.ts";
import { openLoopbackReceiver } from "../../../src/cli/loopback-callback.ts";

const receivers: CallbackReceiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function open(wanted: string | null = null): Promise<CallbackReceiver> {
  const receiver = await openLoopbackReceiver(wanted);
  receivers.push(receiver);
  return receiver;
}

interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function get(address: string, options: { method?: string; host?: string } = {}): Promise<Page> {
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  const headers = options.host === undefined ? {} : { host: options.host };
  const request = httpRequest(
    address,
    { method: options.method ?? "GET", headers, agent: false },
    (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    },
  );
  request.on("error", reject);
  request.end();
  return promise;
}

const isOurs = (query: URLSearchParams): boolean => query.get("state") === "mine";
const forever = (): AbortSignal => new AbortController().signal;

describe("the listener of a login [AUTH-37, AUTH-38]", () => {
  it("listens on loopback at a free port, and takes the one answer that is its own", async () => {
    const receiver = await open();
    expect(receiver.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const arriving = receiver.receive(isOurs, forever());
    expect((await get(`${receiver.redirectUri}?state=theirs&code=x`)).status).toBe(400);
    expect((await get(receiver.redirectUri)).status).toBe(400);
    const page = await get(`${receiver.redirectUri}?state=mine&code=c`);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      "content-security-policy": "default-src 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    expect(page.text).not.toContain("mine");
    expect((await arriving).get("code")).toBe("c");
  });

  it("answers nobody else: other paths, methods, and names for this machine", async () => {
    const receiver = await open();
    const arriving = receiver.receive(isOurs, forever());
    const { port } = new URL(receiver.redirectUri);
    const query = "?state=mine&code=c";
    expect((await get(`http://127.0.0.1:${port}/other${query}`)).status).toBe(404);
    expect((await get(`${receiver.redirectUri}${query}`, { method: "POST" })).status).toBe(404);
    expect((await get(`${receiver.redirectUri}${query}`, { host: `evil.example:${port}` })).status).toBe(404);
    expect((await get(`${receiver.redirectUri}${query}`)).status).toBe(200);
    await arriving;
  });

  it("has nothing to say before anybody waits", async () => {
    const receiver = await open();
    expect((await get(`${receiver.redirectUri}?state=mine`)).status).toBe(404);
  });

  it("takes the wanted port, and says so where it is taken", async () => {
    const first = await open();
    await expect(openLoopbackReceiver(first.redirectUri)).rejects.toMatchObject({ code: "address_in_use" });
    await first.close();
    receivers.length = 0;
    const again = await open(`${new URL(first.redirectUri).origin}/elsewhere`);
    const arriving = again.receive(isOurs, forever());
    expect((await get(`${again.redirectUri}?state=mine&code=c`)).status).toBe(200);
    await arriving;
  });

  it("stops waiting with its signal", async () => {
    const receiver = await open();
    const controller = new AbortController();
    const arriving = receiver.receive(isOurs, controller.signal);
    controller.abort(new Error("enough"));
    await expect(arriving).rejects.toThrow("enough");
    await expect(receiver.receive(isOurs, controller.signal)).rejects.toThrow("enough");
  });
});
