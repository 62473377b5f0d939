/** The admin API on plain requests. A module of its own, because it is loaded when a person first comes and not before. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createAdmin, type AdminDeps } from "./admin.ts";

export interface AdminDoor {
  /** Answers a request whose Host, Origin and token were judged. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends the streams of events in good order. */
  endStreams(): void;
}

export function openAdminDoor(deps: AdminDeps): AdminDoor {
  const admin = createAdmin(deps);
  const listen = getRequestListener(admin.app.fetch, { overrideGlobalObjects: false });
  return {
    handle(request, response) {
      Promise.resolve(listen(request, response)).catch(deps.onError);
    },
    endStreams: admin.endStreams,
  };
}
