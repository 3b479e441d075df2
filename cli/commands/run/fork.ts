import { Command } from 'commander';
import type { OperatorForkReply } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { parseStep } from '../../parse-values.js';
import { reasonOption, workOf, type GlobalOptions, type ReasonOption } from '../options.js';
import { runPath } from './run-filter.js';

type ForkOptions = GlobalOptions & ReasonOption & { step: number; session?: string };

export function createForkCommand(cli: Cli): Command {
  return new Command('fork')
    .summary('continue a copy from a step')
    .description(
      'Copy the conversation up to a step of a run, and continue the copy with the next step. Tools\n' +
        'of later steps are executed again. The conversation itself stays as it is.',
    )
    .argument('<run>', 'id of the run')
    .requiredOption('--step <n>', 'the last step of the copy; 0 repeats the turn', parseStep)
    .option('--session <id>', 'id of the copy; default: one is made')
    .addOption(reasonOption())
    .action(async (runId: string, _, self: Command) => {
      const { options, api, output } = workOf<ForkOptions>(cli, self);
      const { step, session: sessionId, reason } = options;
      const body = { step, sessionId, reason };
      const reply = await api.post<OperatorForkReply>(runPath(runId, '/fork'), body);
      await output.text(reply, () => `${reply.sessionId} continues as ${reply.runId}`);
    });
}
