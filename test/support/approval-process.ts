/**
 * One process with a broker on a SQLite state, for tests of several: it reads one JSON command per line on standard input and
 * answers each with one line. Also the seal and the ask that both sides use.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { createBroker, type Ask, type Broker } from "../../src/approvals/broker.ts";
import type { AnswerInput } from "../../src/approvals/answer.ts";
import type { Seal } from "../../src/approvals/shelf.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { PortcullisError } from "../../src/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";

const KEY = createHash("sha256").update("a key for tests").digest();

const testSeal: Seal = {
  seal(text, context) {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", KEY, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
  },
  open(sealed, context) {
    const bytes = Buffer.from(sealed, "base64");
    const decipher = createDecipheriv("aes-256-gcm", KEY, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
  },
};

export const testAsk: Ask = {
  group: "turn-1",
  callId: "call-1",
  principal: "local",
  server: "files",
  tool: "delete",
  exposedName: "files__delete",
  pin: "pin-1",
  grade: "L2",
  arguments: { path: "/a.txt" },
  say: null,
  items: null,
  confirm: null,
  title: null,
  origins: [],
  reasons: [],
  preview: null,
  needsPerson: false,
  session: null,
};

/** The clock of a process that lives `byMs` in the future. */
function shifted(byMs: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + byMs };
}

export async function openBroker(
  dir: string,
  role: string,
  shiftMs = 0,
): Promise<{ readonly broker: Broker; readonly store: Store }> {
  const store = await openSqliteStore({ dir, role, clock: systemClock, random: systemRandom });
  const broker = createBroker({
    store,
    clock: shifted(shiftMs),
    random: systemRandom,
    seal: testSeal,
    makeVisible: (text) => text,
    channels: ["terminal", "console"],
  });
  return { broker, store };
}

export type Command =
  | { readonly do: "request"; readonly ask: Partial<Ask> }
  | { readonly do: "consume"; readonly id: string; readonly ask: Partial<Ask> }
  | { readonly do: "answer"; readonly id: string; readonly answer: AnswerInput }
  | { readonly do: "list" };

async function run(broker: Broker, command: Command): Promise<unknown> {
  switch (command.do) {
    case "request":
      return broker.request({ ...testAsk, ...command.ask }, new AbortController().signal);
    case "consume":
      return broker.consume(command.id, { ...testAsk, ...command.ask });
    case "answer":
      return broker.answer(command.id, command.answer);
    case "list":
      return broker.list();
  }
}

async function main(dir: string, shiftMs: number): Promise<void> {
  const { broker, store } = await openBroker(dir, "test child", shiftMs);
  const running: Promise<void>[] = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line) as Command;
    running.push(
      run(broker, command).then(
        (value) => void process.stdout.write(`${JSON.stringify({ value })}\n`),
        (error: unknown) =>
          void process.stdout.write(
            `${JSON.stringify({ code: error instanceof PortcullisError ? error.code : String(error) })}\n`,
          ),
      ),
    );
  }
  await Promise.all(running);
  broker.close();
  await store.close();
}

if (process.argv[1] === import.meta.filename) {
  const [dir = "", shiftMs = "0"] = process.argv.slice(2);
  await main(dir, Number(shiftMs));
}
