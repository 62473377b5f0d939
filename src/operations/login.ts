/**
 * Login and logout for faces that ask and answer in separate requests, such as the console: `login_start` says what has to be
 * agreed to, or gives the address to open; `login_finish` brings back what the browser ended at. The login itself is the host's.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { LoginReport } from "../auth/authorization.ts";
import { readPasted } from "../auth/callback.ts";
import type { Interaction, LoginQuestion } from "../auth/login.ts";
import { linkAbort, untilAborted } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** A login that waits for its answer. */
interface PendingLogin {
  readonly server: string;
  readonly abort: (reason: Error) => void;
  readonly answer: (query: URLSearchParams) => boolean;
  readonly done: Promise<LoginReport>;
}

export type LoginStart =
  /** To be shown, and asked again with these origins in `accept`. */
  | { readonly kind: "confirm"; readonly question: LoginQuestion; readonly accept: readonly string[] }
  /** To be opened by the person, https or loopback http. */
  | { readonly kind: "open"; readonly login: string; readonly url: string; readonly redirectUri: string };

const MAX_PENDING = 16;
const pendingOf = new WeakMap<Host, Map<string, PendingLogin>>();

function pending(host: Host): Map<string, PendingLogin> {
  const known = pendingOf.get(host) ?? new Map<string, PendingLogin>();
  pendingOf.set(host, known);
  return known;
}

const urlInput = z.string().min(1).max(16_384);

export const loginStart = defineOperation({
  name: "login_start",
  summary: "begin a login: what has to be agreed to, or the address to open",
  input: z.strictObject({
    server: nameInput,
    principal: nameInput.optional(),
    /** Where the browser is sent back to. */
    redirectUri: urlInput,
    /** Origins that the person has agreed to. */
    accept: z.array(z.string().max(2_048)).max(16).default([]),
  }),
  isLive: true,
  async run({ host, signal }, { server, principal, redirectUri, accept }): Promise<LoginStart> {
    // Until the address is shown the login belongs to this request; from then on it waits for `login_finish`.
    const link = linkAbort(signal);
    const started = Promise.withResolvers<LoginStart>();
    const arrived = Promise.withResolvers<URLSearchParams>();
    let isOurs: (query: URLSearchParams) => boolean = () => false;
    const login = randomUUID();
    const interaction: Interaction = {
      async confirm(question) {
        const named = question.kind === "contact" ? question.named : question.endpoints;
        const origins = [...new Set(named.map(({ origin }) => origin))];
        if (origins.every((origin) => accept.includes(origin))) return true;
        started.resolve({ kind: "confirm", question, accept: [...new Set([...accept, ...origins])] });
        return false;
      },
      openReceiver: async (wanted) => ({
        redirectUri: wanted?.isFixed === true ? wanted.uri : redirectUri,
        receive: async (recognise, signal) => {
          isOurs = recognise;
          signal.addEventListener("abort", () => arrived.reject(signal.reason as Error), { once: true });
          return arrived.promise;
        },
        close: async () => undefined,
      }),
      async show(url) {
        const redirect = url.searchParams.get("redirect_uri") ?? redirectUri;
        started.resolve({ kind: "open", login, url: url.href, redirectUri: redirect });
      },
    };
    const options = { signal: link.signal, ...(principal === undefined ? {} : { principal }) };
    const done = host.login(server, interaction, options);
    const answer = (query: URLSearchParams): boolean => {
      if (!isOurs(query)) return false;
      arrived.resolve(query);
      return true;
    };
    const logins = pending(host);
    for (const [id, older] of [...logins].slice(0, Math.max(0, logins.size - MAX_PENDING + 1))) {
      older.abort(new PortcullisError("cancelled", "too many logins were begun"));
      logins.delete(id);
    }
    logins.set(login, { server, abort: (reason) => link.abort(reason), answer, done });
    // Its failure before the address was shown is the answer to this request; later it belongs to `login_finish`.
    done.catch((error: unknown) => {
      logins.delete(login);
      started.reject(error);
    });
    try {
      return await started.promise;
    } finally {
      link.unlink();
    }
  },
});

export const loginFinish = defineOperation({
  name: "login_finish",
  summary: "end a login with the address that the browser ended at",
  input: z.strictObject({ login: nameInput, callback: urlInput }),
  isLive: true,
  async run({ host, signal }, { login, callback }) {
    const waiting = pending(host).get(login);
    if (waiting === undefined)
      throw new PortcullisError("usage", "there is no such login (any more): begin it again");
    const query = readPasted(callback);
    if (query === undefined || !waiting.answer(query))
      throw new PortcullisError(
        "usage",
        "this is not the answer to this login: give the whole address that the browser ended at",
      );
    pending(host).delete(login);
    return { server: waiting.server, ...(await untilAborted(waiting.done, signal)) };
  },
});

export const logout = defineOperation({
  name: "logout",
  summary: "revoke the tokens of a server and forget them",
  input: z.strictObject({ server: nameInput, principal: nameInput.optional() }),
  isLive: false,
  async run({ host, signal }, { server, principal }) {
    const options = { signal, ...(principal === undefined ? {} : { principal }) };
    return { server, ...(await host.logout(server, options)) };
  },
});
