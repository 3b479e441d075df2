import { Command } from 'commander';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import type { Column, Kind } from '../../output/output.js';
import { workOf, type GlobalOptions } from '../options.js';
import { wrongUsage } from '../../failure.js';
import { EVENTS, readEvents } from './events.js';
import { RUNS } from './run-kinds.js';
import { runPath } from './run-filter.js';
import { toStepLines } from './step-lines.js';

const columns: Column<OperatorRunDetail>[] = [
  ...RUNS.columns,
  { title: 'SESSION', show: (run) => run.sessionId },
  { title: 'OWNER', show: (run) => run.owner },
  { title: 'BY', show: (run) => run.by },
  { title: 'MODE', show: (run) => run.mode },
  { title: 'MODEL', show: (run) => run.model },
  { title: 'STEPS', show: (run) => run.stepCount },
  { title: 'TOKENS', show: ({ usage }) => usage && usage.inputTokens + usage.outputTokens },
  { title: 'COST', show: ({ usage }) => toDollars(usage?.costMicroUsd) },
  { title: 'REASON', show: (run) => run.reason },
  { title: 'ERROR', show: ({ error }) => error && `${error.message} (${error.code})` },
];

const RUN: Kind<OperatorRunDetail> = {
  fields: [
    ...RUNS.fields,
    ...(['owner', 'by', 'isNewest', 'mode', 'stepCount', 'reason', 'error', 'usage'] as const),
    ...(['steps', 'pending'] as const),
  ],
  columns,
  none: 'No run.',
};

export function createDescribeCommand(cli: Cli): Command {
  return new Command('describe')
    .description('Show what is known of a run.')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, _, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      await output.one(RUN, await api.get<OperatorRunDetail>(runPath(runId)));
    });
}

type ShowOptions = GlobalOptions & { follow?: boolean; events?: boolean };

export function createShowCommand(cli: Cli): Command {
  return new Command('show')
    .description('Show the steps and tool calls of a run.')
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'until the run has ended')
    .option('--events', 'the log entries of its turn instead; the server records who has read them')
    .action(async (runId: string, _, self: Command) => {
      const { options, api, output } = workOf<ShowOptions>(cli, self);
      if (options.events === true) {
        if (options.follow === true) throw wrongUsage('Give --events or --follow, not both.');
        await output.list(EVENTS, readEvents(api, runId));
        return;
      }
      if (options.follow !== true) {
        const run = await api.get<OperatorRunDetail>(runPath(runId));
        await output.text(run, () => toStepLines(run, cli.terminal).join('\n'));
        return;
      }
      const { followRun } = await import('./follow.js');
      await followRun({ cli, api, output, runId });
    });
}

function toDollars(micro: number | undefined): string | undefined {
  return micro === undefined ? undefined : `$${(micro / 1_000_000).toFixed(4)}`;
}
