/** A collector on loopback: keeps what it is sent as JSON, or misbehaves. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/base/json.ts";

export interface Received {
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: JsonObject;
}

export interface Collector {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when something was received for which `matches` is true. */
  until(matches: (received: Received) => boolean): Promise<Received>;
  /** What it does with what comes: `hang` never answers. */
  behave(how: "take" | "refuse" | "hang"): void;
  close(): Promise<void>;
}

export async function openCollector(): Promise<Collector> {
  let how: "take" | "refuse" | "hang" = "take";
  const received: Received[] = [];
  const looks = new Set<() => void>();
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    received.push({
      path: request.url ?? "",
      headers: request.headers,
      body: JSON.parse(text) as JsonObject,
    });
    for (const look of Array.from(looks)) look();
    if (how === "hang") return;
    response.writeHead(how === "take" ? 200 : 503, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    until: (matches) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = received.find(matches);
          if (found === undefined) return;
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
      }),
    behave: (next) => {
      how = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
