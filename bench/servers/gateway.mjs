/**
 * The gateway as a process of its own, in front of the servers in the configuration that its first argument is; the second is
 * its state directory. The first line on stdout is JSON: its URL, its token, and when the modules were loaded and the host began to
 * open. Ends with stdin.
 */
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { openHost } from "../../src/host/host.ts";

const [config, stateDir] = process.argv.slice(2);
const openedAt = Date.now();
const host = await openHost({ config: JSON.parse(config), stateDir, role: "serve" });
const gateway = await openGateway({
  host,
  config: host.config,
  clock: systemClock,
  random: systemRandom,
  stateDir,
});
process.stdin.resume().on("end", async () => {
  gateway.drain();
  await host.close();
  await gateway.close();
});
console.log(JSON.stringify({ url: `${gateway.url}/mcp`, token: gateway.tokens.mcp, openedAt }));
