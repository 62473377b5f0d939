/**
 * What a person should look at twice before an entry runs (security best practices, local server compromise; SEC-16): other users'
 * rights, lines for a shell, code in an argument, containers with the machine in them, sensitive folders. Pure. A hint for people:
 * nothing is refused because of it, and nothing is safe because it says nothing.
 */
import type { ServerConfig } from "./compiled.ts";
import { programName } from "./launch-command.ts";

const OTHER_USER: readonly string[] = ["sudo", "doas", "su", "pkexec", "run0", "runas", "gsudo"];
const SHELLS: readonly string[] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh"];
const CODE_OPTION: Readonly<Record<string, RegExp>> = {
  node: /^(?:-e|--eval|-p|--print)$/,
  bun: /^(?:-e|--eval)$/,
  deno: /^eval$/,
  python: /^-c$/,
  ruby: /^-e$/,
  perl: /^-e$/,
  php: /^-r$/,
};

const IN_A_LINE: readonly (readonly [RegExp, string])[] = [
  [/\brm\s+-[a-z]*[rf]/i, "deletes files (`rm -r`)"],
  [
    /\b(?:curl|wget|iwr|invoke-webrequest)\b[^|;&]{0,500}[|;&]+\s*(?:sudo\s+)?(?:\w*sh|python\d?|node|iex)\b/i,
    "fetches a script and runs it",
  ],
  [/\bbase64\s+(?:-d|-D|--decode)\b/, "hides text (`base64`)"],
  [/\b(?:dd\s+[io]f=|mkfs|diskutil\s+erase|format\s+[a-z]:)/i, "writes to disks"],
  [/\bchmod\s+(?:-R\s+)?[0-7]?777\b/, "opens files to everybody (`chmod 777`)"],
  [/\b(?:nc|ncat|netcat)\b[^;&|]{0,200}\s-[a-z]*e/i, "gives a shell to the network"],
  [/\/dev\/tcp\//, "opens a connection from the shell"],
];

const CONTAINER: readonly (readonly [RegExp, string])[] = [
  [/^--privileged$/, "a container with all rights over the machine (`--privileged`)"],
  [
    /^(?:--(?:net|network|pid|ipc|userns|uts)=host|host)$/,
    "a container that shares the machine's own namespaces (`host`)",
  ],
  [/docker\.sock/, "a container that can start others (`docker.sock`)"],
  [/^(?:-v|--volume=)?\/:/, "a container that sees the whole disk"],
  [/^--cap-add(?:=|$)/, "a container with more rights (`--cap-add`)"],
];

const SENSITIVE =
  /(?:^|[\s=:,"'])(?:~|\$HOME|\$\{HOME\}|\$\{env:HOME\}|\/(?:home|Users)\/[^/\s]+|\/root)?\/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|git-credentials|password-store)\b/;
const WHOLE = /^(?:\/|~\/?|\$\{(?:env:)?HOME\}\/?|[A-Za-z]:\\)$/;
/** Variables that put other code into a program. */
const CODE_VARIABLES =
  /^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|RUBYOPT|BASH_ENV)$/;

/** Phrases for a person, each once; empty where nothing stands out. */
export function findDangers(server: ServerConfig): readonly string[] {
  const { launch } = server;
  if (launch.kind !== "stdio") return [];
  const words = [launch.command, ...launch.args].map(({ template }) => template);
  const found = new Set<string>();
  let program = "";
  for (const [index, word] of words.entries()) {
    const name = programName(word);
    if (index === 0 || isWrapper(program)) program = name;
    if (OTHER_USER.includes(name) && index <= 1)
      found.add(`runs with the rights of another user (\`${name}\`)`);
    if (SHELLS.includes(program) && /^(?:-[a-z]*c|\/c|-command|-encodedcommand)$/i.test(word))
      found.add(`is a line for a shell (\`${program} ${word}\`)`);
    const code = CODE_OPTION[program.replace(/[\d.]+$/, "")];
    if (code?.test(word) === true) found.add(`runs code that stands in an argument (\`${program} ${word}\`)`);
    if (["docker", "podman", "nerdctl"].includes(program)) addMatches(found, CONTAINER, word);
    addMatches(found, IN_A_LINE, word);
    if (SENSITIVE.test(word)) found.add(`names a place that holds keys (\`${word.slice(0, 80)}\`)`);
    if (index > 0 && WHOLE.test(word)) found.add(`is given everything below \`${word}\``);
  }
  addMatches(found, IN_A_LINE, words.join(" "));
  for (const name of Object.keys(launch.env)) {
    if (CODE_VARIABLES.test(name)) found.add(`puts other code into its program (\`${name}\`)`);
  }
  return [...found];
}

/** Programs whose first arguments name the one that really runs. */
function isWrapper(program: string): boolean {
  return program === "env" || OTHER_USER.includes(program);
}

function addMatches(found: Set<string>, rules: readonly (readonly [RegExp, string])[], text: string): void {
  for (const [shape, what] of rules) if (shape.test(text)) found.add(what);
}
