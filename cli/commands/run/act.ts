import { Command, Option } from 'commander';
import { SUITED } from '../../../protocol/act-on-each.js';
import type { OperatorRun } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { wrongUsage } from '../../failure.js';
import { actOnAll, actOnFound, addManyOptions, type ManyOptions, type Target } from '../many.js';
import { reasonOption, workOf, type GlobalOptions } from '../options.js';
import {
  addRunFilter,
  findRuns,
  isEmpty,
  runPath,
  RUNS,
  toRunQuery,
  type RunFilter,
} from './run-filter.js';

interface ActOptions extends GlobalOptions, RunFilter, ManyOptions {
  reason?: string;
  mode?: 'interrupt' | 'abort';
}

interface Act {
  name: 'stop' | 'retry' | 'resume';
  summary: string;
  description: string;
}

const STOP: Act = {
  name: 'stop',
  summary: 'stop runs',
  description: 'Stop runs; what they have written is kept.',
};
const RETRY: Act = {
  name: 'retry',
  summary: 'repeat turns',
  description: 'Repeat the turns of runs that have ended.',
};
const RESUME: Act = {
  name: 'resume',
  summary: 'continue runs',
  description: 'Continue runs that were stopped or have failed.',
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
    const found = await findRuns(api, toRunQuery(options, cli.now()), SUITED[act.name]);
    await actOnFound(cli, work, {
      act: act.name,
      kind: RUNS,
      found: found.filter(({ subAgent }) => subAgent !== true),
      toTarget,
    });

    async function* describe(): AsyncGenerator<OperatorRun, void> {
      for (const runId of ids) yield api.get<OperatorRun>(runPath(runId));
    }
  });
}
