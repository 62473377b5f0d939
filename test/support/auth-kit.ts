/** An authorization on a real store in a folder of its own, and a person made of code: agrees to some origins, and follows the browser's redirect. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAuthorization,
  type Authorization,
  type AuthorizationOptions,
} from "../../src/auth/authorization.ts";
import type { Interaction, LoginQuestion } from "../../src/auth/login.ts";
import { PLAIN_SETTINGS, type AuthSettings } from "../../src/auth/settings.ts";
import { openVault } from "../../src/auth/vault.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createHttpPort } from "../../src/egress/dial.ts";
import { PortcullisError } from "../../src/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import type { HttpPort, HttpResponse } from "../../src/transport/http-port.ts";

export interface AuthKit {
  readonly dir: string;
  readonly store: Store;
  /** Everything that `onSecrets` was told. */
  readonly secrets: string[];
  /** What `onExhausted` was told. */
  readonly exhausted: PortcullisError[];
  /** Origins that a port was opened for. */
  readonly opened: string[];
  authorization(
    url: URL,
    more?: Partial<AuthSettings>,
    options?: Partial<AuthorizationOptions>,
  ): Authorization;
  close(): Promise<void>;
}

export function openLoopbackPort(origin: string, clock: Clock = systemClock): HttpPort {
  return createHttpPort({ clock, rules: { origins: [origin], allow: [], allowPrivateAddresses: true } });
}

export async function createAuthKit(clock: Clock = systemClock): Promise<AuthKit> {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-auth-"));
  const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
  const vault = openVault({ dir, random: systemRandom });
  const secrets: string[] = [];
  const exhausted: PortcullisError[] = [];
  const opened: string[] = [];
  return {
    dir,
    store,
    secrets,
    exhausted,
    opened,
    authorization(url, more = {}, options = {}) {
      const settings = { ...PLAIN_SETTINGS, ...more };
      return createAuthorization({
        server: "test",
        credential: "shared",
        url,
        rules: { allowLoopbackHttp: true },
        grant: settings.grant,
        readSettings: async () => settings,
        openPort: (origin) => {
          opened.push(origin);
          return openLoopbackPort(origin);
        },
        documents: store.documents,
        leases: store.leases,
        vault,
        clock,
        onSecrets: (values) => secrets.push(...values),
        onExhausted: (error) => exhausted.push(error),
        ...options,
      });
    },
    async close() {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface CodePerson extends Interaction {
  readonly questions: LoginQuestion[];
  /** URLs that a browser would have opened. */
  readonly shown: URL[];
}

/**
 * @param agrees to a question; default: to everything.
 * @param redirectUri where nobody listens: the redirect is read from the answer to the authorization request.
 */
export function createPerson(
  agrees: (question: LoginQuestion) => boolean = () => true,
  redirectUri = "http://127.0.0.1:1455/callback",
): CodePerson {
  const questions: LoginQuestion[] = [];
  const shown: URL[] = [];
  let arrived = Promise.withResolvers<URLSearchParams>();
  return {
    questions,
    shown,
    async confirm(question) {
      questions.push(question);
      return agrees(question);
    },
    async openReceiver(wanted) {
      arrived = Promise.withResolvers<URLSearchParams>();
      return {
        redirectUri: wanted?.uri ?? redirectUri,
        async receive(isOurs) {
          const query = await arrived.promise;
          if (!isOurs(query)) throw new PortcullisError("auth_failed", "the answer was turned away");
          return query;
        },
        close: async () => undefined,
      };
    },
    async show(url) {
      shown.push(url);
      const response = await fetch(url, { redirect: "manual", headers: { connection: "close" } });
      const location = response.headers.get("location");
      await response.body?.cancel();
      if (location === null)
        arrived.reject(new PortcullisError("auth_failed", `the browser shows status ${response.status}`));
      else arrived.resolve(new URL(location).searchParams);
    },
  };
}

/** Agrees to what stays on these origins. */
export function onlyOrigins(...origins: readonly string[]): (question: LoginQuestion) => boolean {
  return (question) => {
    const named = question.kind === "contact" ? question.named : question.endpoints;
    return named.every(({ origin }) => origins.includes(origin));
  };
}

/** A request that no MCP server answers without a token; for its status and challenge. */
export async function askServer(
  port: HttpPort,
  url: URL,
  method: "tools/list" | "tools/call" = "tools/list",
): Promise<{ readonly status: number; readonly wwwAuthenticate: string }> {
  const response: HttpResponse = await port.request({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(method === "tools/call" ? { "mcp-name": "echo" } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...(method === "tools/call" ? { name: "echo", arguments: {} } : {}),
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        },
      },
    }),
    signal: AbortSignal.timeout(20_000),
    maxBodyBytes: 1_000_000,
  });
  for await (const _chunk of response.body);
  return { status: response.status, wwwAuthenticate: response.headers["www-authenticate"] ?? "" };
}

/** The refusal as the client's hook gets it. */
export function refusal(answer: {
  readonly status: number;
  readonly wwwAuthenticate: string;
}): PortcullisError {
  return new PortcullisError("auth_required", `status ${answer.status}`, { data: { ...answer } });
}

/** What was thrown, as text, with everything that hangs on it: for secrets in errors. */
export async function failureOf(work: Promise<unknown>): Promise<PortcullisError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PortcullisError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}
