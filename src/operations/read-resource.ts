import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** One resource, with the same care as a call. */
export const readResource = defineOperation({
  name: "read-resource",
  summary: "read one resource of a server",
  input: z.strictObject({ server: nameInput, uri: z.string().min(1).max(8_192) }),
  isLive: true,
  run: ({ host, signal }, { server, uri }) => host.read(server, uri, { signal }),
});
