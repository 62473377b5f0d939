/**
 * The admin API, for the console and for commands on the same state: operations by name, and what happens as it happens. The
 * token was judged before anything here runs. Its answers are those of `--json`.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Clock } from "../base/clock.ts";
import { findInexact } from "../base/exact-json.ts";
import { parseJson } from "../base/json.ts";
import { decodeUtf8 } from "../base/utf8.ts";
import { errorCodes, PortcullisError, toPortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { gatewayProof } from "../operations/gateway-file.ts";
import { runOperation } from "../operations/operation.ts";
import { operations } from "../operations/table.ts";
import { openEventStream, type EventStream } from "./event-stream.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Pulse } from "./pulse.ts";
import type { Offers } from "./offers.ts";

export interface AdminDeps {
  readonly host: Host;
  readonly offers: Pick<Offers, "mayHaveChanged">;
  readonly clock: Clock;
  readonly pulse: Pulse;
  readonly limits: GatewayLimits;
  readonly adminToken: string;
  /** Aborted when running operations are to be cut off. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

export interface Admin {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  /** Ends the streams of events in good order. */
  endStreams(): void;
}

/** Operations after which agents may be offered other tools. */
const CHANGING: ReadonlySet<string> = new Set(["review", "grade", "suggest", "rollout", "pause", "resume"]);
/** Who acts through this door: there is one token, so there is one person. */
const OPERATOR = "local";

export function createAdmin(deps: AdminDeps): Admin {
  const { host, clock, limits } = deps;
  const app = new Hono<{ Bindings: HttpBindings }>();
  const streams = new Set<EventStream>();

  app.onError((cause, context) => {
    const error = toPortcullisError(cause);
    if (error.code === "internal") deps.onError(cause);
    const { httpStatus, help } = errorCodes[error.code];
    // 499 and the like are fine for `Response`, though not among Hono's names.
    return context.json(
      { error: { code: error.code, message: error.message, help } },
      Math.max(httpStatus, 400) as ContentfulStatusCode,
    );
  });

  app.use("/api/*", async (context, next) => {
    const { method, headers } = context.req.raw;
    if (method === "GET" || method === "HEAD") return next();
    if (method !== "POST")
      return context.json({ error: { code: "usage", message: "use POST", help: "" } }, 405);
    if (headers.has("content-length") || headers.has("transfer-encoding")) return next();
    throw new PortcullisError("usage", "the body must be JSON");
  });
  app.use(
    "/api/*",
    bodyLimit({
      maxSize: limits.maxBodyBytes,
      onError: (context) =>
        context.json({ error: { code: "usage", message: "the body is too large", help: "" } }, 413),
    }),
  );

  /** Open to everybody on this machine: shows that the gateway knows the token, without telling it. */
  app.get("/api/hello", (context) => {
    const nonce = (context.req.query("nonce") ?? "").slice(0, 200);
    return context.json({ service: "portcullis", proof: gatewayProof(deps.adminToken, nonce) });
  });

  app.post("/api/operations/:name", async (context) => {
    const name = context.req.param("name");
    const operation = operations.get(name);
    if (operation === undefined)
      throw new PortcullisError("usage", `there is no operation \`${name.slice(0, 100)}\``);
    const type = context.req.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    const { text, hasInvalidUtf8 } = decodeUtf8(Buffer.from(await context.req.arrayBuffer()));
    const input = hasInvalidUtf8 ? undefined : parseJson(text);
    if (type !== "application/json" || input === undefined)
      throw new PortcullisError("usage", "the body must be JSON");
    const inexact = findInexact(text, input);
    if (inexact !== undefined) throw new PortcullisError("usage", inexact);
    const gone = new AbortController();
    const { outgoing } = context.env;
    const onClose = (): void => gone.abort(new PortcullisError("cancelled", "the caller is gone"));
    outgoing.once("close", onClose);
    try {
      const output = await runOperation(
        operation,
        {
          host,
          by: OPERATOR,
          channel: context.req.header("x-portcullis-channel") === "terminal" ? "terminal" : "console",
          signal: AbortSignal.any([gone.signal, deps.signal]),
          nowMs: clock.now,
        },
        input,
      );
      if (CHANGING.has(name)) deps.offers.mayHaveChanged();
      return context.json(output ?? null);
    } finally {
      outgoing.off("close", onClose);
    }
  });

  app.get("/api/events", (context) => {
    if (streams.size >= limits.maxStreams)
      throw new PortcullisError("queue_full", "too many streams of events are open");
    const { outgoing } = context.env;
    const stream = openEventStream(outgoing, deps.pulse);
    streams.add(stream);
    const unsubscribe = host.onEvent((event) => {
      // A reader that fell behind begins anew with the facts as they are then.
      if (stream.isSlow) outgoing.destroy();
      else stream.send(event);
    });
    outgoing.once("close", () => {
      streams.delete(stream);
      unsubscribe();
    });
    return RESPONSE_ALREADY_SENT;
  });

  app.all("/api/*", (context) => {
    throw new PortcullisError(
      "usage",
      `there is no \`${context.req.method} ${context.req.path.slice(0, 100)}\``,
    );
  });

  return {
    app,
    endStreams() {
      for (const stream of Array.from(streams)) stream.end();
    },
  };
}
