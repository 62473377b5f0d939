/**
 * The person of a login, at a terminal: is shown where it goes and what for, says yes, gets the address opened or to copy, and may
 * paste what the browser ended at where it cannot reach this machine.
 */
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { readPasted, type CallbackReceiver } from "../auth/callback.ts";
import type { Interaction, LoginQuestion } from "../auth/login.ts";
import { isLoopbackName } from "../config/compile-remote.ts";
import { PortcullisError } from "../errors.ts";
import { openLoopbackReceiver } from "./loopback-callback.ts";
import type { Output } from "./output.ts";

export interface TerminalLogin {
  readonly server: string;
  readonly output: Output;
  /** `--yes`: what is shown counts as agreed to. */
  readonly isAgreed: boolean;
  /** Opens a browser; `undefined`: the address is only shown. @returns whether one was opened. */
  readonly openBrowser: ((url: URL, signal: AbortSignal) => Promise<boolean>) | undefined;
  readonly ask: (question: string, signal: AbortSignal) => Promise<string>;
  /** What is typed or piped in, line by line. */
  readonly lines: (prompt: string, signal: AbortSignal) => AsyncIterable<string>;
  readonly clock: Clock;
}

/** After a yes the answer still has so long to be sent to the browser before the listener ends. */
const LAST_ANSWER_MS = 100;

export function createTerminalLogin(options: TerminalLogin): Interaction {
  const { output, server } = options;
  const shown = Promise.withResolvers<void>();
  return {
    async confirm(question, signal) {
      output.say(describe(question, server));
      if (options.isAgreed) return true;
      if (!output.isInteractive)
        throw new PortcullisError(
          "auth_required",
          "a login asks a person: run it in a terminal, or add --yes to what is shown",
        );
      const asked = question.kind === "contact" ? "Contact it?" : "Log in there?";
      return /^y(es)?$/iu.test(await options.ask(`${asked} [y/N] `, signal));
    },

    async openReceiver(wanted) {
      const receiver = await openReceiver(wanted);
      return withPaste(receiver, options, shown.promise);
    },

    async show(url, signal) {
      output.say(`\nOpen this address in a browser:\n\n  ${url.href}\n`);
      if (options.openBrowser !== undefined) {
        const isOpened = await options.openBrowser(url, signal);
        output.say(isOpened ? "A browser was opened." : "No browser could be opened here: copy the address.");
      }
      shown.resolve();
    },

    async askClientId(issuer, redirectUri, signal) {
      if (!output.isInteractive) return undefined;
      output.say(
        `${issuer} registers no clients by itself. Register one there with the redirect URI ${redirectUri}.`,
      );
      return options.ask("Client id: ", signal);
    },
  };
}

function describe(question: LoginQuestion, server: string): string {
  if (question.kind === "contact") {
    const named = question.named.map(({ field, origin }) => `  ${field}  ${origin}`);
    return `\`${server}\` names a place outside its own address:\n${named.join("\n")}`;
  }
  const width = Math.max(...question.endpoints.map(({ field }) => field.length));
  return [
    `Log in to ${question.resource}`,
    `  at      ${question.issuer}`,
    `  scopes  ${describeScopes(question.scopes)}`,
    ...question.endpoints.map(({ field, origin }) => `  ${field.padEnd(width)}  ${origin}`),
  ].join("\n");
}

const MAX_SHOWN_SCOPES = 30;

function describeScopes(scopes: readonly string[]): string {
  if (scopes.length === 0) return "what the server gives by default";
  const more = scopes.length - MAX_SHOWN_SCOPES;
  return scopes.slice(0, MAX_SHOWN_SCOPES).join(", ") + (more > 0 ? `, and ${more} more` : "");
}

/** A listener where the redirect comes back to this machine; elsewhere the answer can only be pasted. */
async function openReceiver(wanted: Parameters<Interaction["openReceiver"]>[0]): Promise<CallbackReceiver> {
  if (wanted === null) return openLoopbackReceiver(null);
  const url = new URL(wanted.uri);
  if (url.protocol !== "http:" || !isLoopbackName(url.hostname)) return pasteOnly(wanted.uri);
  try {
    return await openLoopbackReceiver(wanted.uri);
  } catch (error) {
    if (wanted.isFixed) throw error;
    return openLoopbackReceiver(null);
  }
}

function pasteOnly(redirectUri: string): CallbackReceiver {
  return {
    redirectUri,
    receive: (_isOurs, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
    close: async () => undefined,
  };
}

/** The first of both: what reached the listener, or what a person pasted. */
function withPaste(
  receiver: CallbackReceiver,
  options: TerminalLogin,
  shown: Promise<void>,
): CallbackReceiver {
  let isAnswered = false;
  return {
    redirectUri: receiver.redirectUri,
    async receive(isOurs, signal) {
      const link = linkAbort(signal);
      try {
        const pasted = shown.then(() => readPastes(isOurs, options, link.signal));
        const answer = await Promise.race([receiver.receive(isOurs, link.signal), pasted]);
        isAnswered = true;
        return answer;
      } finally {
        link.abort(new Error("the answer is there"));
      }
    },
    async close() {
      if (isAnswered) await options.clock.sleep(LAST_ANSWER_MS);
      await receiver.close();
    },
  };
}

/** Ends with the right answer alone; where there is none the listener decides. */
async function readPastes(
  isOurs: (query: URLSearchParams) => boolean,
  { lines, output }: TerminalLogin,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  for await (const line of lines("Or paste the address that the browser ended at: ", signal)) {
    const query = readPasted(line);
    if (query !== undefined && isOurs(query)) return query;
    if (line !== "") output.say("That is not the answer to this login.");
  }
  return new Promise(() => undefined);
}
