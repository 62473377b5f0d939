/** The hand-written answers of the bench's servers, both eras: as cheap as a server can be, so that the client is measured. */
const PREFIX = "io.modelcontextprotocol/";
export const TOOLS = [
  {
    name: "echo",
    description: "Gives the message back.",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    annotations: { readOnlyHint: true },
  },
  {
    name: "big",
    description: "Gives many characters back.",
    inputSchema: { type: "object", properties: { size: { type: "integer" } }, required: ["size"] },
    annotations: { readOnlyHint: true },
  },
];
for (let number = 1; number <= Number(process.env.BENCH_TOOLS ?? 0); number += 1)
  TOOLS.push({
    ...TOOLS[0],
    name: `echo_${number}`,
    description: `Gives the message back, way number ${number}.`,
  });
const CACHE = { ttlMs: 3_600_000, cacheScope: "public" };
const SERVER_INFO = { name: "bench", version: "1" };

/** The text of the answer to one parsed message; `undefined` for a notification. */
export function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const isModern = params?._meta?.[`${PREFIX}protocolVersion`] !== undefined;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  const complete = (result) =>
    `${head}"result":${JSON.stringify(isModern ? { resultType: "complete", ...result } : result)}}`;
  switch (method) {
    case "tools/call":
      return complete({ content: [{ type: "text", text: textOf(params) }] });
    case "tools/list":
      return complete({ tools: TOOLS, ...CACHE });
    case "server/discover":
      return complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ...CACHE });
    case "initialize":
      return complete({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: SERVER_INFO,
      });
    case "ping":
      return complete({});
    default:
      return `${head}"error":{"code":-32601,"message":"unknown method"}}`;
  }
}

function textOf({ name, arguments: args }) {
  return name === "big" ? "x".repeat(args.size) : args.message;
}
