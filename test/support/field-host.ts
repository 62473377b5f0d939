/** A host with one outside field server, named `field`, and what happened in it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import type { ToolView } from "../../src/host/views.ts";
import { openHost } from "../../src/host/host.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";
import { fieldServer } from "./field.ts";

export interface FieldHost {
  readonly host: Host;
  readonly events: readonly HostEvent[];
  /** By name as the server wrote it. */
  tool(name: string): Promise<ToolView | undefined>;
  /** What the server wrote down of an event. */
  noted(event: string): readonly JsonObject[];
  /** Resolves when a list was taken in that satisfies `isIt`. */
  listed(isIt: (tools: readonly ToolView[]) => boolean): Promise<readonly ToolView[]>;
  close(): Promise<void>;
}

export interface FieldOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** More of the server's entry in the configuration. */
  readonly entry?: JsonObject;
  /** More of the configuration. */
  readonly config?: JsonObject;
  readonly onApproval?: HostOptions["onApproval"];
}

/** Opens a host over stdio; whoever opens it closes it. */
export async function openFieldHost(name: string, options: FieldOptions = {}): Promise<FieldHost> {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-field-"));
  const stateFile = join(dir, "noted.jsonl");
  const { env = {}, entry = {}, config = {}, onApproval } = options;
  const events: HostEvent[] = [];
  const host = await openHost({
    config: {
      mcpServers: {
        field: {
          command: process.execPath,
          args: [fieldServer(name)],
          source: "own",
          ...entry,
          env: { STATE_FILE: stateFile, ...env },
        },
      },
      ...config,
    },
    stateDir: join(dir, "state"),
    onEvent: (event) => events.push(event),
    ...(onApproval === undefined ? {} : { onApproval }),
  });
  return {
    host,
    events,
    async tool(wanted) {
      return (await host.tools()).find((tool) => tool.tool === wanted);
    },
    noted(event) {
      if (!existsSync(stateFile)) return [];
      const lines = readFileSync(stateFile, "utf8").split("\n");
      return lines
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as JsonObject)
        .filter((line) => line["event"] === event);
    },
    async listed(isIt) {
      const now = await host.tools();
      if (isIt(now)) return now;
      return new Promise((resolve, reject) => {
        const off = host.onEvent((event) => {
          if (event.type !== "catalog.refreshed") return;
          host.tools().then((tools) => {
            if (!isIt(tools)) return;
            off();
            resolve(tools);
          }, reject);
        });
      });
    },
    async close() {
      await host.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
