import { Command, Option } from 'commander';
import type { OperatorRunCount } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { limitOption, noteMore, workOf, type GlobalOptions, type ListOptions } from '../options.js';
import { addRunFilter, readRuns, toRunQuery, type RunFilter } from './run-filter.js';
import { RUN_GROUPS, RUNS } from './run-kinds.js';

export function createListCommand(cli: Cli): Command {
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

export function createCountCommand(cli: Cli): Command {
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
