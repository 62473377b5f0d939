import { PortcullisError } from "../../errors.ts";
import { grade } from "../../operations/grade.ts";
import { suggest, type Proposal } from "../../operations/suggest.ts";
import type { CommandContext, CommandRun } from "../main.ts";
import { askYesOrNo } from "../prompt.ts";
import { renderProposal } from "../render/proposal.ts";
import { openRunner } from "../runner.ts";
import { runVerb } from "../verb.ts";
import { loadTrusted } from "../workspace.ts";

interface Options {
  readonly suggest?: boolean;
  readonly accept?: boolean;
  readonly yes?: boolean;
}

export const run: CommandRun<Options> = async (context, words, options) => {
  const [server, tool, level] = words;
  if (options.suggest === true) {
    if (tool !== undefined)
      throw new PortcullisError("usage", "--suggest is about a whole server: name no tool");
    return propose(context, server, options);
  }
  if (options.accept === true) throw new PortcullisError("usage", "--accept goes with --suggest");
  if (tool === undefined || level === undefined)
    throw new PortcullisError("usage", "name the tool and its grade, or add --suggest");
  return runVerb(
    context,
    grade,
    { server, tool, grade: level },
    (done) => `${done.server} ${done.tool} is ${done.grade} now (${done.file})`,
  );
};

async function propose(
  { globals, output, signal }: CommandContext,
  server: string | undefined,
  options: Options,
): Promise<number> {
  const config = await loadTrusted(globals, output, signal);
  const runner = await openRunner(config, suggest.isLive, output);
  try {
    const ask = (input: object): Promise<Proposal> => runner.run<Proposal>(suggest as never, input, signal);
    const proposal = await ask({ server });
    const isOpen = proposal.tools.some(({ rule }) => rule !== null);
    if (options.accept !== true || !isOpen) {
      output.result(proposal, renderProposal);
      return 0;
    }
    if (options.yes !== true) {
      if (!output.isInteractive)
        throw new PortcullisError("approval_needed", "without a terminal --accept needs --yes");
      output.say(renderProposal(proposal));
      if (!(await askYesOrNo(`Write these grades into ${config.file ?? "the configuration"}?`, signal))) {
        output.result(proposal, () => "nothing was written");
        return 0;
      }
    }
    const written = await ask({ server, accept: proposal.digest });
    output.result(written, (done) => `written to ${done.file ?? ""}`);
    return 0;
  } finally {
    await runner.close();
  }
}
