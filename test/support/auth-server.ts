/**
 * An MCP server and its authorization server on loopback, in this process, as strict as the specifications: approves every
 * authorization at once, rotates refresh tokens, and writes down what it was asked. What a test wants otherwise it says.
 */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "../../src/base/json.ts";
import { startLocalServer, type LocalServer } from "./local-http.ts";

export interface Asked {
  readonly path: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** Query, form or JSON members. */
  readonly form: Readonly<Record<string, string>>;
  /** Of a registration. */
  readonly document?: Readonly<Record<string, unknown>>;
}

export interface AuthServerOptions {
  /** Seconds; `null`: not said. Default 3,600. */
  expiresIn?: number | null;
  /** Members added to the authorization server's metadata; `undefined` takes one out. */
  metadata?: Record<string, unknown>;
  /** Members added to the resource's metadata. */
  resourceMetadata?: Record<string, unknown>;
  /** A path whose answer comes byte by byte and never ends. */
  drips?: string;
  /** Neither resource nor authorization server have metadata. */
  hasNoMetadata?: boolean;
  /** Scopes that `tools/call` needs; default none. */
  callScopes?: readonly string[];
  /** Scopes of the challenge to a request without a token. */
  challengeScopes?: readonly string[];
  /** Members added to every registration's answer. */
  registration?: Record<string, unknown>;
  /** Answers a token request instead; `undefined` lets it through. */
  onToken?: (
    form: Readonly<Record<string, string>>,
    asked: Asked,
  ) => { status: number; body: string; type?: string } | undefined;
  /** Members added to the query that the browser is sent back with. */
  callback?: Record<string, string>;
  /** Proofs of possession have to hold it, at either side. */
  dpopNonce?: string;
}

export interface AuthServer {
  readonly url: URL;
  readonly origin: string;
  readonly asked: Asked[];
  /** Every token and code that it gave out. */
  readonly issued: string[];
  /** May be changed while it runs. */
  readonly options: AuthServerOptions;
  /** Requests to `path`. */
  to(path: string): readonly Asked[];
  /** From now on every access token is refused; refresh tokens stay good. */
  expireAll(): void;
  close(): Promise<void>;
}

interface Grant {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** `DPoP`: asked for with a proof, so the token is good with one alone. */
  readonly scheme: "Bearer" | "DPoP";
}

/** Whether a proof is there without the nonce that is wanted. */
function lacksNonce({ headers }: Pick<Asked, "headers">, nonce: string | undefined): boolean {
  const { dpop } = headers;
  if (nonce === undefined || typeof dpop !== "string") return false;
  const claims = parseJson(Buffer.from(dpop.split(".")[1] ?? "", "base64url").toString("utf8"));
  return (claims as { nonce?: unknown }).nonce !== nonce;
}

export async function startAuthServer(options: AuthServerOptions = {}): Promise<AuthServer> {
  const asked: Asked[] = [];
  const issued: string[] = [];
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();
  const codes = new Map<string, Record<string, string>>();
  let local: LocalServer;
  const origin = (): string => local.url.origin;

  const json = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

  const issue = (response: ServerResponse, grant: Grant): void => {
    const accessToken = `at-${randomUUID()}`;
    const refreshToken = `rt-${randomUUID()}`;
    issued.push(accessToken, refreshToken);
    access.set(accessToken, grant);
    refresh.set(refreshToken, grant);
    const { expiresIn = 3_600 } = options;
    json(response, 200, {
      access_token: accessToken,
      token_type: grant.scheme,
      refresh_token: refreshToken,
      scope: grant.scopes.join(" "),
      ...(expiresIn === null ? {} : { expires_in: expiresIn }),
    });
  };

  const token = (response: ServerResponse, { form, headers }: Asked): void => {
    const { dpopNonce } = options;
    if (lacksNonce({ headers }, dpopNonce))
      return json(response, 400, { error: "use_dpop_nonce" }, { "dpop-nonce": dpopNonce ?? "" });
    const scheme = headers["dpop"] === undefined ? "Bearer" : "DPoP";
    const scopes = (form["scope"] ?? "").split(" ").filter((scope) => scope !== "");
    const clientId = form["client_id"] ?? "by-header";
    switch (form["grant_type"]) {
      case "authorization_code": {
        const code = codes.get(form["code"] ?? "");
        codes.delete(form["code"] ?? "");
        const challenge = createHash("sha256")
          .update(form["code_verifier"] ?? "")
          .digest("base64url");
        if (
          code === undefined ||
          code["code_challenge"] !== challenge ||
          code["redirect_uri"] !== form["redirect_uri"]
        )
          return json(response, 400, { error: "invalid_grant" });
        return issue(response, {
          clientId,
          scheme,
          scopes: (code["scope"] ?? "").split(" ").filter((scope) => scope !== ""),
        });
      }
      case "refresh_token": {
        const grant = refresh.get(form["refresh_token"] ?? "");
        refresh.delete(form["refresh_token"] ?? "");
        return grant === undefined ? json(response, 400, { error: "invalid_grant" }) : issue(response, grant);
      }
      case "client_credentials":
      case "urn:ietf:params:oauth:grant-type:jwt-bearer":
        return issue(response, { clientId, scheme, scopes });
      default:
        return json(response, 400, { error: "unsupported_grant_type" });
    }
  };

  const challenge = (more: string): Record<string, string> => ({
    "www-authenticate": `Bearer resource_metadata="${origin()}/.well-known/oauth-protected-resource/mcp"${more}`,
  });

  const mcp = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const [, scheme, accessToken = ""] =
      /^(Bearer|DPoP) (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const known = access.get(accessToken);
    const grant = known?.scheme === scheme ? known : undefined;
    const message = parseJson(body) as { id: number; method: string; params: { arguments?: unknown } };
    if (grant === undefined) {
      const { challengeScopes } = options;
      const scope = challengeScopes === undefined ? "" : `, scope="${challengeScopes.join(" ")}"`;
      return json(response, 401, { error: "invalid_token" }, challenge(scope));
    }
    if (lacksNonce(request, options.dpopNonce)) {
      const headers = {
        "www-authenticate": 'DPoP error="use_dpop_nonce"',
        "dpop-nonce": options.dpopNonce ?? "",
      };
      return json(response, 401, { error: "use_dpop_nonce" }, headers);
    }
    const missing =
      message.method === "tools/call" &&
      options.callScopes?.some((scope) => !grant.scopes.includes(scope)) === true;
    if (missing)
      return json(
        response,
        403,
        { error: "insufficient_scope" },
        challenge(`, error="insufficient_scope", scope="${options.callScopes?.join(" ") ?? ""}"`),
      );
    const results: Record<string, object> = {
      "server/discover": {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: "private",
      },
      "tools/list": {
        tools: [
          {
            name: "echo",
            description: "Returns its arguments",
            inputSchema: { type: "object", properties: { text: { type: "string" } } },
          },
        ],
        ttlMs: 0,
        cacheScope: "private",
      },
      "tools/call": { content: [{ type: "text", text: JSON.stringify(message.params.arguments ?? {}) }] },
    };
    const result = results[message.method];
    if (result === undefined)
      return json(response, 404, {
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32601, message: "no such method" },
      });
    json(response, 200, { jsonrpc: "2.0", id: message.id, result: { resultType: "complete", ...result } });
  };

  local = await startLocalServer((request, response, body) => {
    const url = new URL(request.url ?? "/", origin());
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    const form = Object.fromEntries(
      request.method === "POST" && !isJson ? new URLSearchParams(body) : url.searchParams,
    );
    const document = isJson ? (parseJson(body) as Record<string, unknown>) : undefined;
    const entry: Asked = {
      path: url.pathname,
      url: url.href,
      headers: request.headers,
      form,
      ...(document === undefined ? {} : { document }),
    };
    asked.push(entry);
    if (options.drips === url.pathname) {
      response.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
      return;
    }
    if (options.hasNoMetadata === true && url.pathname.startsWith("/.well-known/"))
      return void response.writeHead(404).end();
    switch (url.pathname) {
      case "/mcp":
        return mcp(request, response, body);
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, 200, {
          resource: `${origin()}/mcp`,
          authorization_servers: [origin()],
          scopes_supported: ["read"],
          ...options.resourceMetadata,
        });
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, {
          issuer: origin(),
          authorization_endpoint: `${origin()}/authorize`,
          token_endpoint: `${origin()}/token`,
          registration_endpoint: `${origin()}/register`,
          revocation_endpoint: `${origin()}/revoke`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
          authorization_response_iss_parameter_supported: true,
          ...options.metadata,
        });
      case "/register":
        return json(response, 201, {
          client_id: `client-${randomUUID()}`,
          ...document,
          ...options.registration,
        });
      case "/authorize": {
        const code = randomUUID();
        issued.push(code);
        codes.set(code, form);
        const back = new URL(form["redirect_uri"] ?? "");
        for (const [name, value] of Object.entries({
          code,
          state: form["state"] ?? "",
          iss: origin(),
          ...options.callback,
        }))
          back.searchParams.set(name, value);
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      case "/token": {
        const other = options.onToken?.(form, entry);
        if (other === undefined) return token(response, entry);
        response
          .writeHead(other.status, { "content-type": other.type ?? "application/json" })
          .end(other.body);
        return;
      }
      case "/revoke":
        access.delete(form["token"] ?? "");
        refresh.delete(form["token"] ?? "");
        return void response.writeHead(200).end();
      default:
        return void response.writeHead(404).end();
    }
  });

  return {
    url: local.url,
    origin: local.url.origin,
    asked,
    issued,
    options,
    to: (path) => asked.filter((one) => one.path === path),
    expireAll: () => access.clear(),
    close: local.close,
  };
}
