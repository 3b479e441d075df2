import { Command, Option } from 'commander';
import type { OperatorForkReply, OperatorRunCount } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { CliFailure, EXIT } from '../../failure.js';
import { parseDuration, parseStep } from '../../parse-values.js';
import {
  limitOption,
  noteMore,
  reasonOption,
  workOf,
  type GlobalOptions,
  type ListOptions,
  type ReasonOption,
} from '../options.js';
import { createActCommands } from './act.js';
import { createDescribeCommand, createShowCommand } from './describe.js';
import {
  addRunFilter,
  readRuns,
  RUN_GROUPS,
  runPath,
  RUNS,
  toRunQuery,
  type RunFilter,
} from './run-filter.js';

/** `run`: the runs of agents. */
export function createRunCommands(cli: Cli): Command {
  const noun = new Command('run').description('See, stop, resume, repeat and fork runs.');
  const verbs = [
    createListCommand(cli),
    createCountCommand(cli),
    createDescribeCommand(cli),
    createShowCommand(cli),
    createWatchCommand(cli),
    ...createActCommands(cli),
    createForkCommand(cli),
  ];
  for (const verb of verbs) noun.addCommand(verb);
  return noun;
}

function createListCommand(cli: Cli): Command {
  const command = new Command('list').description('List runs, newest first.');
  return addRunFilter(command)
    .addOption(limitOption())
    .action(async (_, self: Command) => {
      const { options, api, output } = workOf<ListOptions & RunFilter>(cli, self);
      const query = toRunQuery(options, cli.now());
      await output.list(RUNS, readRuns(api, query, options.limit, noteMore(cli, options.limit)));
    });
}

type CountOptions = GlobalOptions & RunFilter & { groupBy: string };

function createCountCommand(cli: Cli): Command {
  const command = new Command('count').description('Count runs.');
  return addRunFilter(command)
    .addOption(
      new Option('--group-by <what>', 'what the counts are of')
        .choices(['status', 'agent', 'tenant'])
        .default('status'),
    )
    .action(async (_, self: Command) => {
      const { options, api, output } = workOf<CountOptions>(cli, self);
      const query = { ...toRunQuery(options, cli.now()), groupBy: options.groupBy };
      const counts = await api.get<OperatorRunCount>('/api/operator/runs/count', { query });
      await output.text(counts, async () => {
        const table = await output.draw(RUN_GROUPS, counts.groups);
        return `${table}\n${String(counts.total)} in all`;
      });
    });
}

type ForkOptions = GlobalOptions & ReasonOption & { step: number; session?: string };

function createForkCommand(cli: Cli): Command {
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

function createWatchCommand(cli: Cli): Command {
  return new Command('watch')
    .summary('wait until a run rests')
    .description(
      'Wait until a run has ended or waits for people. Exits with 0 if it completed, 1 if it\n' +
        'failed, 2 if it waits for people, 3 if it was stopped, 124 after the timeout.',
    )
    .argument('<run>', 'id of the run')
    .option('--timeout <duration>', 'wait at most so long', parseDuration)
    .action(async (runId: string, _, self: Command) => {
      const { options, api, output } = workOf<GlobalOptions & { timeout?: number }>(cli, self);
      const { restOf, watchStates } = await import('./follow.js');
      const { timeout } = options;
      const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
      try {
        for await (const run of watchStates(api, runId, signal)) {
          const exitCode = restOf(run.status);
          if (exitCode === undefined) {
            cli.terminal.note(`${run.runId} is ${run.status}.`);
            continue;
          }
          await output.one(RUNS, run);
          cli.exitWith(exitCode);
          return;
        }
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      }
      throw new CliFailure(`${runId} has not ended yet.`, EXIT.timeout);
    });
}
