import { Command, Option } from 'commander';
import type { OperatorRun } from '../../../protocol/operator.js';
import { isTerminal } from '../../../protocol/run.js';
import type { Cli } from '../../cli.js';
import { wrongUsage } from '../../failure.js';
import { actOnAll, actOnFound, addManyOptions, type ManyOptions, type Target } from '../many.js';
import { reasonOption, workOf, type GlobalOptions } from '../options.js';
import {
  addRunFilter,
  isEmpty,
  readRuns,
  runPath,
  toRunQuery,
  type RunFilter,
} from './run-filter.js';
import { RUNS } from './run-kinds.js';

interface ActOptions extends GlobalOptions, RunFilter, ManyOptions {
  reason?: string;
  mode?: 'interrupt' | 'abort';
}

/** An act on runs. */
interface Act {
  name: 'stop' | 'retry' | 'resume';
  summary: string;
  description: string;
  /** Whether it makes sense for a run that a filter has found. */
  suits: (run: OperatorRun) => boolean;
}

const STOP: Act = {
  name: 'stop',
  summary: 'stop runs',
  description: 'Stop runs; what they have written is kept.',
  suits: ({ status }) => !isTerminal(status),
};
const RETRY: Act = {
  name: 'retry',
  summary: 'repeat turns',
  description: 'Repeat the turns of runs that have ended.',
  suits: ({ status }) => isTerminal(status) && status !== 'completed',
};
const RESUME: Act = {
  name: 'resume',
  summary: 'continue runs',
  description: 'Continue runs that were stopped or have failed.',
  suits: ({ status }) => status === 'interrupted' || status === 'failed',
};

export function createActCommands(cli: Cli): Command[] {
  return [STOP, RETRY, RESUME].map((act) => createActCommand(cli, act));
}

function createActCommand(cli: Cli, act: Act): Command {
  const command = new Command(act.name)
    .summary(act.summary)
    .description(`${act.description} Name them, or select them with a filter.`)
    .argument('[runs...]', 'ids of runs');
  addManyOptions(addRunFilter(command).addOption(reasonOption()));
  if (act === STOP) {
    command.addOption(
      new Option('--mode <mode>', 'whether they can be resumed (interrupt) or not (abort)')
        .choices(['interrupt', 'abort'])
        .default('interrupt'),
    );
  }
  return command.action(async (ids: string[], _, self: Command) => {
    const work = workOf<ActOptions>(cli, self);
    const { options, api, output } = work;
    const { reason, mode, dryRun = false } = options;
    if (ids.length > 0 !== isEmpty(options)) {
      throw wrongUsage('Name runs, or select them with -q, --status, --agent or --since.');
    }
    const toTarget = ({ runId }: Pick<OperatorRun, 'runId'>): Target => ({
      runId,
      path: runPath(runId, `/${act.name}`),
      body: { reason, mode },
    });
    if (ids.length > 0) {
      if (dryRun) await output.list(RUNS, describe());
      else
        await actOnAll(
          cli,
          work,
          ids.map((runId) => toTarget({ runId })),
        );
      return;
    }
    const found: OperatorRun[] = [];
    for await (const run of readRuns(api, toRunQuery(options, cli.now()), undefined)) {
      if (run.subAgent !== true && act.suits(run)) found.push(run);
    }
    await actOnFound(cli, work, { act: act.name, kind: RUNS, found, toTarget });

    async function* describe(): AsyncGenerator<OperatorRun, void> {
      for (const runId of ids) yield api.get<OperatorRun>(runPath(runId));
    }
  });
}
