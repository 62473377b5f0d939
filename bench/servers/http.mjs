/** Answers over plain `node:http`, without sessions. The first line on stdout is the URL. */
import { createServer } from "node:http";
import { answer } from "./answers.mjs";

const server = createServer((request, response) => {
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const text = answer(JSON.parse(body));
    if (text === undefined) response.writeHead(202).end();
    else
      response
        .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
        .end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.resume().on("end", () => process.exit());
