/** Every command: its words, its options, one line about it, and the module that does it, loaded when it is asked for. */
import type { CommandRun } from "./main.ts";

export interface CommandRow {
  readonly usage: string;
  readonly summary: string;
  /** Words after `portcullis` that do something with it. */
  readonly example?: string;
  readonly options?: readonly (readonly [flags: string, description: string])[];
  readonly load: () => Promise<{ readonly run: CommandRun<never> }>;
}

const serverOption = ["--server <name>", "only this server"] as const;
const sinceOption = ["--since <duration>", "calls of the last 7d, 12h, …"] as const;
const filterOptions = [
  serverOption,
  ["--tool <name>", "only this tool"],
  ["--principal <name>", "only what was done for them"],
  sinceOption,
] as const;

/** In the order of `--help`. */
export const commands: readonly CommandRow[] = [
  {
    usage: "init",
    summary: "a first configuration, with what other MCP clients on this machine have; never over a file",
    options: [
      ["--from <file>", "only this file, or this client (`cursor`)"],
      ["--empty", "import nothing"],
    ],
    load: async () => import("./commands/init.ts"),
  },
  {
    usage: "add <name> [command...]",
    summary: "add a server: `add NAME -- COMMAND ARGUMENTS`, or `add NAME --url https://…`",
    options: [
      ["--url <address>", "a remote server"],
      ["--env <name=value>", "a variable of its environment; again for more"],
      ["--header <name:value>", "a header for its address; again for more"],
      ["--cwd <folder>", "its working directory"],
      ["--source <why>", "why it is trusted: official, own or audited"],
    ],
    load: async () => import("./commands/add.ts"),
  },
  {
    usage: "remove <server>",
    summary: "take a server out of the configuration file",
    load: async () => import("./commands/remove.ts"),
  },
  {
    usage: "serve",
    summary: "run the gateway and the console",
    example: "serve --stdio   # as a client starts it",
    options: [["--stdio", "speak MCP on standard input and output"]],
    load: async () => import("./commands/serve.ts"),
  },
  {
    usage: "status [server]",
    summary: "what each server is doing, and when it was last known to be well",
    example: "status --watch",
    options: [
      ["--check", "ask each server for a sign of life first"],
      ["--watch", "again and again until Ctrl-C"],
    ],
    load: async () => import("./commands/status.ts"),
  },
  {
    usage: "tools [server]",
    summary: "the tools, with their grades and where those come from",
    example: "tools --search issue",
    options: [
      ["--search <text>", "only tools that hold these words"],
      ["--refresh", "ask the servers again"],
    ],
    load: async () => import("./commands/tools.ts"),
  },
  {
    usage: "call <server> <tool> [json]",
    summary: "call one tool (JSON `-`: from standard input)",
    example: `call files read_text_file '{"path":"hello.txt"}'`,
    options: [
      ["--yes", "approve it: the person at the terminal has said yes"],
      ["--confirm <text>", "the second confirmation of an L3 tool"],
      ["--wait", "where a person has to be asked: wait for their answer in the inbox"],
    ],
    load: async () => import("./commands/call.ts"),
  },
  {
    usage: "read <server> <uri>",
    summary: "read one resource",
    example: "read everything demo://resource/static/document/features.md",
    load: async () => import("./commands/read.ts"),
  },
  {
    usage: "prompt <server> <name> [json]",
    summary: "get one prompt",
    example: `prompt everything args-prompt '{"city":"Ulm"}'`,
    load: async () => import("./commands/prompt.ts"),
  },
  {
    usage: "explain <server> <tool> [json]",
    summary: "whether a call would be allowed, asked about or refused, and why, without making it",
    example: `explain files write_file '{"path":"note.txt","content":"hi"}'`,
    load: async () => import("./commands/explain.ts"),
  },
  {
    usage: "grade <server> [tool] [level]",
    summary: "set the grade of a tool (L0, L1, L2, L3, off), in the configuration file",
    example: "grade github search_code L0",
    options: [
      ["--suggest", "propose grades for all tools of the server, from names, schemas and claims"],
      ["--accept", "with --suggest: write the proposal, once you have said yes to it"],
      ["--yes", "with --accept: without asking"],
    ],
    load: async () => import("./commands/grade.ts"),
  },
  {
    usage: "rollout <server> <share>",
    summary: "which share of the principals sees a server (5%), in the configuration file",
    example: "rollout github 5%",
    load: async () => import("./commands/rollout.ts"),
  },
  {
    usage: "pause [server]",
    summary: "the kill switch: send nothing until `resume`",
    example: "pause github",
    options: [["--all", "every server"]],
    load: async () => import("./commands/pause.ts"),
  },
  {
    usage: "resume [server]",
    summary: "let calls through again",
    example: "resume --all",
    options: [["--all", "every server"]],
    load: async () => import("./commands/resume.ts"),
  },
  {
    usage: "reconnect [server]",
    summary: "connect anew, now",
    example: "reconnect github",
    options: [["--all", "every server"]],
    load: async () => import("./commands/reconnect.ts"),
  },
  {
    usage: "lock <server>",
    summary: "install the exact version of a server's package without scripts, and start it from there",
    options: [["--forget", "take the lock back, and remove what was installed"]],
    load: async () => import("./commands/lock.ts"),
  },
  {
    usage: "login <server>",
    summary: "log in to a remote server: shows where and what for, then opens a browser",
    options: [
      ["--no-browser", "only show the address, for a device without a browser"],
      ["--yes", "agree to what is shown"],
      ["--principal <name>", "whose login, where the entry keeps one for each"],
    ],
    load: async () => import("./commands/login.ts"),
  },
  {
    usage: "logout <server>",
    summary: "revoke the tokens of a server and forget them",
    options: [["--principal <name>", "whose login"]],
    load: async () => import("./commands/logout.ts"),
  },
  {
    usage: "review [server]",
    summary: "new and changed definitions of tools, as a diff; with --accept they count from now on",
    example: "review github --tool create_issue --accept",
    options: [
      ["--tool <name>", "only this tool"],
      ["--accept", "accept them as they are now"],
    ],
    load: async () => import("./commands/review.ts"),
  },
  {
    usage: "release <call>",
    summary: "a result that was held back: what was found in it, and its text",
    options: [["--accept", "let the model read it, for an hour"]],
    load: async () => import("./commands/release.ts"),
  },
  {
    usage: "approvals",
    summary: "the calls that wait for an answer",
    load: async () => import("./commands/approvals.ts"),
  },
  {
    usage: "approve <id>",
    summary: "approve a waiting call, or a group of them, by the id that `approvals` shows",
    example: "approve 740ca0f2d7 --without 1,3",
    options: [
      ["--without <numbers>", "take these items out (1,3)"],
      ["--confirm <text>", "the second confirmation of an L3 tool"],
      ["--grant <scope>", "and let the same be done again: session, hour or arguments"],
    ],
    load: async () => import("./commands/approve.ts"),
  },
  {
    usage: "deny <id>",
    summary: "refuse a waiting call, by the id that `approvals` shows",
    example: `deny 740ca0f2d7 --reason "not on a Friday"`,
    options: [["--reason <text>", "told to the model"]],
    load: async () => import("./commands/deny.ts"),
  },
  {
    usage: "grants",
    summary: "the standing approvals",
    load: async () => import("./commands/grants.ts"),
  },
  {
    usage: "revoke <id>",
    summary: "take a standing approval back, by the id that `grants` shows",
    load: async () => import("./commands/revoke.ts"),
  },
  {
    usage: "undo <call>",
    summary: "take a call back, by the id that `activity` shows: within 30 seconds, where its rule says how",
    options: [
      ["--yes", "approve the undo, where it has to be asked"],
      ["--wait", "wait for an answer from the inbox"],
    ],
    load: async () => import("./commands/undo.ts"),
  },
  {
    usage: "activity [call]",
    summary: "what was called, how it ended and what it did; or one call, by its id",
    example: "activity --server github --limit 10",
    options: [...filterOptions, ["--limit <count>", "how many, newest first (default 50)"]],
    load: async () => import("./commands/activity.ts"),
  },
  {
    usage: "audit",
    summary: "check that no record was changed or taken out; with --export also write them into a file",
    example: "audit --export week.jsonl --since 7d",
    options: [
      ["--verify", "check the chains: what it does anyway"],
      ["--export <file>", "a new file that gets the records, one JSON document per line"],
      ...filterOptions,
    ],
    load: async () => import("./commands/audit.ts"),
  },
  {
    usage: "replay",
    summary: "what another configuration would have decided on the recorded calls, without doing anything",
    example: "replay --policy stricter.json --since 7d",
    options: [
      ["--policy <file>", "the other configuration"],
      serverOption,
      sinceOption,
      ["--limit <count>", "how many, newest first (default 1000)"],
      ["--all", "also calls on which nothing would change"],
    ],
    load: async () => import("./commands/replay.ts"),
  },
  {
    usage: "check",
    summary: "the security checklist, each line with its evidence; exit code 3 on a gap",
    options: [["--live", "prove some of it now, with hostile servers of our own on loopback"]],
    load: async () => import("./commands/check.ts"),
  },
  {
    usage: "doctor",
    summary: "what is wrong on this machine, and how to mend it",
    load: async () => import("./commands/doctor.ts"),
  },
  {
    usage: "trust",
    summary: "accept the configuration file found here as it is",
    load: async () => import("./commands/trust.ts"),
  },
];
