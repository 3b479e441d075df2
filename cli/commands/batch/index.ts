import { Command } from 'commander';
import type { OperatorBatch, OperatorBatches } from '../../../protocol/batch.js';
import type { Cli } from '../../cli.js';
import { limitOption, workOf, type GlobalOptions, type ListOptions } from '../options.js';
import { BATCHES, toProblemLines } from './kinds.js';

const path = (id: string): string => `/api/operator/batches/${encodeURIComponent(id)}`;

/** `batch`: acts on many runs or calls. */
export function createBatchCommands(cli: Cli): Command {
  const noun = new Command('batch').description('See and end acts on many runs or calls.');
  return noun
    .addCommand(
      new Command('list')
        .description('List batches, newest first.')
        .addOption(limitOption())
        .action(async (_, self: Command) => {
          const { options, api, output } = workOf<ListOptions>(cli, self);
          const query = { limit: Math.min(options.limit, MOST_LISTED) };
          const { batches } = await api.get<OperatorBatches>('/api/operator/batches', { query });
          await output.list(BATCHES, batches);
        }),
    )
    .addCommand(
      new Command('describe')
        .description('Show how far a batch is.')
        .argument('<batch>', 'id of the batch')
        .action(async (id: string, _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const batch = await api.get<OperatorBatch>(path(id));
          await output.one(BATCHES, batch, toProblemLines(batch));
        }),
    )
    .addCommand(
      new Command('terminate')
        .description('End a batch after the acts that are under way; what it has done stays.')
        .argument('<batch>', 'id of the batch')
        .action(async (id: string, _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          await output.one(BATCHES, await api.delete<OperatorBatch>(path(id)));
        }),
    );
}

const MOST_LISTED = 100;
