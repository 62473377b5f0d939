/**
 * `portcullis serve`: the gateway and the console until a signal, or with `--stdio` one MCP peer until its input ends. A change
 * of the configuration file is taken over while it runs.
 */
import { resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import type { Config } from "../../config/compiled.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { watchConfig } from "../../config/watch.ts";
import { PortcullisError, toPortcullisError } from "../../errors.ts";
import type { CloseSummary, Host } from "../../host/api.ts";
import { planReload } from "../../host/reload.ts";
import type { CommandContext, CommandRun } from "../main.ts";
import { findLivingGateway } from "../gateway-probe.ts";
import type { Output } from "../output.ts";
import { openServedHost } from "../served-host.ts";
import { loadOptions, loadTrustedFile, requireTrust, warnOf } from "../workspace.ts";

export const run: CommandRun<{ stdio?: boolean }> = async (context, _words, options) => {
  const loaded = await loadTrustedFile(context.globals, context.output, context.signal);
  return options.stdio === true ? serveOverStdio(context, loaded) : serveOverHttp(context, loaded);
};

/** For everything to end after a signal. */
const CLOSE_MS = 3_500;

async function serveOverHttp(context: CommandContext, loaded: LoadedConfig): Promise<number> {
  const { config } = loaded;
  const { output, signal } = context;
  await refuseSecond(context, config);
  const { openGateway } = await import("../../gateway/gateway.ts");
  const { host, endListening } = await openServedHost(config, output);
  try {
    const gateway = await openGateway({
      host,
      config,
      clock: systemClock,
      random: systemRandom,
      stateDir: config.stateDir,
      onWarning: (message) => output.say(`warning: ${message}`),
      onError: (error) => output.say(`fault: ${toPortcullisError(error).message}`),
    });
    try {
      announce(context, config, { ...gateway, ...stdioEntry(context, config) });
      await untilStopped(context, loaded, host);
    } finally {
      gateway.drain();
      let summary: CloseSummary | undefined;
      try {
        summary = await host.close(CLOSE_MS);
      } finally {
        const { cutOff } = await gateway.close();
        reportEnd(output, summary, cutOff);
      }
    }
  } finally {
    try {
      await host.close();
    } finally {
      await endListening();
    }
  }
  return signal.aborted ? 0 : 1;
}

async function serveOverStdio(context: CommandContext, loaded: LoadedConfig): Promise<number> {
  const { serveStdio } = await import("../../gateway/stdio.ts");
  const { host, endListening } = await openServedHost(loaded.config, context.output);
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  context.signal.addEventListener("abort", stop, { once: true });
  const server = serveStdio({
    host,
    clock: systemClock,
    random: systemRandom,
    input: process.stdin,
    output: process.stdout,
    onError: (error) => context.output.say(`fault: ${toPortcullisError(error).message}`),
  });
  void server.done.then(stop);
  try {
    await untilStopped({ ...context, signal: ended.signal }, loaded, host);
  } finally {
    context.signal.removeEventListener("abort", stop);
    let summary: CloseSummary | undefined;
    try {
      summary = await host.close(CLOSE_MS);
    } finally {
      await server.close();
      process.stdin.destroy();
      await endListening();
      reportEnd(context.output, summary, 0);
    }
  }
  return 0;
}

/** Waits for the signal; takes over what changes in the configuration meanwhile. */
async function untilStopped(context: CommandContext, loaded: LoadedConfig, host: Host): Promise<void> {
  const { output, signal } = context;
  let work: Promise<void> = Promise.resolve();
  /** One after another, so that the last one written is the one in force. */
  const inTurn = (step: () => Promise<void>): void => {
    work = work.then(step).catch((error: unknown) => {
      const { message } = toPortcullisError(error);
      output.say(`the configuration stays as it was: ${message}`);
    });
  };
  const onHangUp = (): void =>
    inTurn(async () => takeOver(await loadConfig(loadOptions(context.globals)), host, output));
  // The end of a terminal ends the command.
  if (!process.stdin.isTTY) process.on("SIGHUP", onHangUp);
  try {
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const watched = watchConfig({
      current: loaded,
      load: loadOptions(context.globals),
      clock: systemClock,
      signal,
      onChange: (change) =>
        inTurn(async () => {
          if (change.type === "invalid") throw change.error;
          await takeOver(change.loaded, host, output);
        }),
    });
    await Promise.all([stopped, watched]);
  } finally {
    process.off("SIGHUP", onHangUp);
    await work;
  }
}

/** @throws PortcullisError `config_untrusted` where a found file was changed by somebody else. */
async function takeOver(loaded: LoadedConfig, host: Host, output: Output): Promise<void> {
  const { config } = loaded;
  // Portcullis's own edits were taken over when they were made.
  if (config.digest === host.config.digest) return;
  await requireTrust(loaded, output, null);
  const { nextStart } = planReload(host.config, config);
  warnOf(config, output);
  await host.reload(config);
  output.say("the configuration was taken over");
  for (const key of nextStart) output.say(`a change of \`${key}\` counts from the next start`);
}

interface Addresses {
  /** How a client starts a gateway of its own on this configuration. */
  readonly stdio?: { readonly command: string; readonly args: readonly string[] };
  readonly url: string;
  readonly tokens: Readonly<Record<"mcp" | "admin", string>>;
}

/** What to do next. The links hold tokens: they go to the terminal, and into no log. */
function announce({ output, globals }: CommandContext, config: Config, addresses: Addresses): void {
  const { url } = addresses;
  if (output.isJson) {
    const document = {
      pid: process.pid,
      url,
      console: consoleUrl(addresses),
      mcp: entryOf(addresses),
      ...(addresses.stdio === undefined ? {} : { stdio: addresses.stdio }),
    };
    output.result(document, () => "");
    return;
  }
  const names = [...config.servers.keys()];
  // As this very configuration and state are reached from another terminal.
  const given = [
    globals.config === undefined ? "" : ` --config ${globals.config}`,
    globals.state === undefined ? "" : ` --state ${globals.state}`,
  ];
  const command = `npx portcullis${given.join("")}`;
  const one = names.length === 1 ? "1 server" : `${names.length} servers`;
  output.say(
    [
      `portcullis serves ${one} on ${url} (process ${process.pid}); stop it with Ctrl-C`,
      "",
      ...waysIn(addresses),
      "In another terminal",
      `          ${command} tools       what there is, and at which grade`,
      `          ${command} approvals   what waits for an answer`,
    ].join("\n"),
  );
}

function waysIn(addresses: Addresses): string[] {
  const { url, tokens, stdio } = addresses;
  return [
    `Console   ${consoleUrl(addresses)}`,
    "          (whoever has this link can approve calls)",
    `Agents    ${url}/mcp with the header "Authorization: Bearer ${tokens.mcp}"; as an entry of a client:`,
    `          ${JSON.stringify({ mcpServers: { portcullis: entryOf(addresses) } })}`,
    ...(stdio === undefined
      ? []
      : [
          "          or, for a client that starts its servers itself:",
          `          ${JSON.stringify({ mcpServers: { portcullis: stdio } })}`,
        ]),
  ];
}

/** With full paths: a client starts it in a folder, and with a PATH, of its own. */
function stdioEntry({ globals }: CommandContext, { file }: Config): Pick<Addresses, "stdio"> {
  const program = process.argv[1];
  if (file === null || program === undefined) return {};
  const state = globals.state === undefined ? [] : ["--state", resolve(globals.state)];
  const args = [program, "--config", file, ...state, "serve", "--stdio"];
  return { stdio: { command: process.execPath, args } };
}

function consoleUrl({ url, tokens }: Addresses): string {
  return `${url}/#token=${tokens.admin}`;
}

function entryOf({ url, tokens }: Addresses): object {
  return { type: "http", url: `${url}/mcp`, headers: { Authorization: `Bearer ${tokens.mcp}` } };
}

/** @param summary absent where the host did not end well, which is told by its error. */
function reportEnd(output: Output, summary: CloseSummary | undefined, requests: number): void {
  const { cutOff, remains } = summary ?? { cutOff: 0, remains: [] };
  if (cutOff + requests > 0) output.say(`cut off: ${cutOff} calls, ${requests} requests`);
  if (remains.length > 0) output.say(`did not stop: ${remains.join(", ")}`);
}

/**
 * Shows the links of the one that runs: whoever may read the state may see them again.
 *
 * @throws PortcullisError `gateway_running` where another process serves this state.
 */
async function refuseSecond(context: CommandContext, config: Config): Promise<void> {
  const other = await findLivingGateway(config.stateDir);
  if (other === undefined || other.pid === process.pid) return;
  if (!context.output.isJson && other.configFile === config.file) {
    const { url, adminToken, mcpToken } = other;
    const tokens = { admin: adminToken, mcp: mcpToken };
    context.output.say(waysIn({ url, tokens, ...stdioEntry(context, config) }).join("\n"));
  }
  throw new PortcullisError(
    "gateway_running",
    `process ${other.pid} already serves \`${other.configFile ?? "a configuration given in code"}\` on this state, on ${other.url}`,
  );
}
