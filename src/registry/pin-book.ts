/**
 * The pins of all servers, in memory for decisions and in the store for ever. Several processes share it: every write is
 * compare-and-set, and whoever loses reads again and applies its change anew.
 *
 * Two documents per server: the records (small, read at start) and the definitions they stand for (for the diff of a review).
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { createKeyedLock } from "../base/keyed-lock.ts";
import type { Documents, StoredDocument } from "../store/store.ts";
import type { Catalog, InstructionsEntry, ToolEntry } from "./entry.ts";
import {
  acceptPin,
  evaluatePin,
  recordFirstSight,
  rejectPin,
  type PinRecord,
  type PinStatus,
} from "./pins.ts";

/** What the pin book needs of the store. */
export type PinDocuments = Pick<Documents, "get" | "put" | "list">;

export interface PinBook {
  /** Reads everything anew: at start, and whenever the collection `pins` may have changed. */
  load(): Promise<void>;
  /** @param tool as the server wrote it. */
  status(server: string, tool: string, pin: string): PinStatus;
  instructionsStatus(server: string, pin: string): PinStatus;
  /** Records what is seen for the first time. What is there already stays as it is, changed or not. */
  observe(catalog: Catalog, at: number): Promise<void>;
  /** An operator accepts these definitions as they are. */
  accept(server: string, entries: readonly ToolEntry[], at: number): Promise<void>;
  acceptInstructions(server: string, instructions: InstructionsEntry, at: number): Promise<void>;
  /** An operator takes an acceptance back. */
  reject(server: string, tool: string, pin: string): Promise<void>;
  /** The definition that was accepted last, or first seen; `undefined` where it was not kept. */
  definition(server: string, tool: string): Promise<JsonObject | undefined>;
  /** The instructions that were accepted last, or first seen. */
  instructions(server: string): Promise<string | undefined>;
}

interface ServerPins {
  readonly tools: ReadonlyMap<string, PinRecord>;
  readonly instructions: PinRecord | undefined;
}

const MAX_TRIES = 20;
/** Definitions of one server, as JSON text; beyond it the diff of a review has to do without the old form. */
const MAX_DEFINITIONS_BYTES = 4 * 1024 * 1024;
const DEFINITIONS = " definitions";
/** Where the instructions stand among the definitions: no tool is named so. */
const INSTRUCTIONS = "";

type Kept = Pick<ToolEntry, "name" | "raw">;

export function createPinBook(documents: PinDocuments): PinBook {
  const servers = new Map<string, ServerPins>();
  const lock = createKeyedLock();

  /** Reads, changes and writes until nobody else wrote in between. `change` answers `undefined` where nothing is to do. */
  const update = async (
    key: string,
    change: (value: JsonValue | undefined) => JsonObject | undefined,
  ): Promise<void> => {
    for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
      const stored = await documents.get("pins", key);
      const value = change(stored?.value);
      if (value === undefined) return;
      const written: StoredDocument | undefined = await documents.put("pins", key, value, {
        ifVersion: stored?.version ?? 0,
      });
      if (written !== undefined) return;
    }
    throw new Error(`the pins of \`${key}\` are written by somebody else all the time`);
  };

  const updateServer = (
    server: string,
    change: (pins: ServerPins | undefined) => ServerPins | undefined,
  ): Promise<void> =>
    lock.run(server, () =>
      update(server, (value) => {
        const before = value === undefined ? undefined : readServerPins(value);
        const after = change(before);
        const current = after ?? before;
        if (current !== undefined) servers.set(server, current);
        return after === undefined ? undefined : writeServerPins(after);
      }),
    );

  const keepDefinitions = (server: string, entries: readonly Kept[], isReplacing: boolean): Promise<void> =>
    lock.run(`${server}${DEFINITIONS}`, () =>
      update(`${server}${DEFINITIONS}`, (value) => {
        const kept: [string, JsonValue][] = isJsonObject(value) ? Object.entries(value) : [];
        const byTool = new Map(kept);
        const added = entries.filter((entry) => isReplacing || !byTool.has(entry.name));
        for (const entry of added) byTool.set(entry.name, entry.raw);
        if (added.length === 0) return undefined;
        return fitting(byTool);
      }),
    );

  const definition = async (server: string, tool: string): Promise<JsonObject | undefined> => {
    const stored = await documents.get("pins", `${server}${DEFINITIONS}`);
    const value = isJsonObject(stored?.value) ? ownProperty(stored.value, tool) : undefined;
    return isJsonObject(value) ? value : undefined;
  };

  return {
    async load() {
      for (const { key, value } of await documents.list("pins")) {
        if (!key.endsWith(DEFINITIONS)) servers.set(key, readServerPins(value));
      }
    },
    status: (server, tool, pin) => evaluatePin(servers.get(server)?.tools.get(tool), pin),
    instructionsStatus: (server, pin) => evaluatePin(servers.get(server)?.instructions, pin),
    async observe(catalog, at) {
      const { server } = catalog.key;
      const known = servers.get(server);
      const isNew = (entry: ToolEntry): boolean => known?.tools.has(entry.name) !== true;
      const fresh = catalog.tools.filter(isNew);
      const hasNewInstructions = catalog.instructions !== null && known?.instructions === undefined;
      if (fresh.length === 0 && !hasNewInstructions) return;
      await updateServer(server, (pins) => {
        const isBaseline = pins === undefined;
        const tools = new Map(pins?.tools);
        for (const entry of fresh) {
          if (!tools.has(entry.name)) tools.set(entry.name, recordFirstSight(entry.pin, at, isBaseline));
        }
        const text = catalog.instructions;
        const instructions =
          pins?.instructions ?? (text === null ? undefined : recordFirstSight(text.pin, at, isBaseline));
        return { tools, instructions };
      });
      const text = hasNewInstructions && catalog.instructions !== null ? [kept(catalog.instructions)] : [];
      await keepDefinitions(server, [...fresh, ...text], false);
    },
    async accept(server, entries, at) {
      await updateServer(server, (pins) => {
        const tools = new Map(pins?.tools);
        for (const entry of entries) tools.set(entry.name, acceptPin(tools.get(entry.name), entry.pin, at));
        return { tools, instructions: pins?.instructions };
      });
      await keepDefinitions(server, entries, true);
    },
    async acceptInstructions(server, instructions, at) {
      await updateServer(server, (pins) => ({
        tools: pins?.tools ?? new Map(),
        instructions: acceptPin(pins?.instructions, instructions.pin, at),
      }));
      await keepDefinitions(server, [kept(instructions)], true);
    },
    reject: (server, tool, pin) =>
      updateServer(server, (pins) => {
        const record = pins?.tools.get(tool);
        if (pins === undefined || record === undefined) return undefined;
        return { ...pins, tools: new Map(pins.tools).set(tool, rejectPin(record, pin)) };
      }),
    definition,
    async instructions(server) {
      const text = (await definition(server, INSTRUCTIONS))?.["text"];
      return typeof text === "string" ? text : undefined;
    },
  };
}

function kept({ raw }: InstructionsEntry): Kept {
  return { name: INSTRUCTIONS, raw: { text: raw } };
}

/** As many definitions as fit, in order of their names, so that the same ones are kept every time. */
function fitting(byTool: ReadonlyMap<string, JsonValue>): JsonObject {
  const kept: [string, JsonValue][] = [];
  let bytes = 0;
  for (const [tool, definition] of [...byTool].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const size = JSON.stringify(definition).length + tool.length;
    if (bytes + size > MAX_DEFINITIONS_BYTES) continue;
    bytes += size;
    kept.push([tool, definition]);
  }
  return Object.fromEntries(kept);
}

function writeServerPins({ tools, instructions }: ServerPins): JsonObject {
  const write = ({ first, firstSeenAt, accepted, isBaseline }: PinRecord): JsonObject => {
    return { first, firstSeenAt, accepted: [...accepted], isBaseline };
  };
  return {
    tools: Object.fromEntries([...tools].map(([tool, record]) => [tool, write(record)])),
    instructions: instructions === undefined ? null : write(instructions),
  };
}

function readServerPins(value: JsonValue): ServerPins {
  const tools = isJsonObject(value) ? ownProperty(value, "tools") : undefined;
  const instructions = isJsonObject(value) ? ownProperty(value, "instructions") : undefined;
  const records = isJsonObject(tools) ? Object.entries(tools) : [];
  return {
    tools: new Map(records.map(([tool, record]) => [tool, readRecord(record)])),
    instructions: instructions === undefined || instructions === null ? undefined : readRecord(instructions),
  };
}

/** A record that cannot be read accepts nothing: its tool is held until somebody looks. */
function readRecord(value: unknown): PinRecord {
  const record = isJsonObject(value) ? value : {};
  const { first, firstSeenAt, accepted, isBaseline } = record;
  return {
    first: typeof first === "string" ? first : "",
    firstSeenAt: typeof firstSeenAt === "number" ? firstSeenAt : 0,
    accepted: Array.isArray(accepted) ? accepted.filter((pin) => typeof pin === "string") : [],
    isBaseline: isBaseline === true,
  };
}
