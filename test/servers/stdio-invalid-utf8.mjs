/** Puts bytes that are no UTF-8 into its answer. */
import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"text":"a`);
  process.stdout.write(Buffer.concat([head, Buffer.from([0xff, 0xc3]), Buffer.from('b"}}\n')]));
});
