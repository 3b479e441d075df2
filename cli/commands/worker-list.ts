import { Command } from 'commander';
import type { OperatorLease, OperatorWorker, OperatorWorkers } from '../../protocol/operator.js';
import type { Cli } from '../cli.js';
import type { Kind } from '../output/output.js';
import { workOf, type GlobalOptions } from './options.js';

const WORKERS: Kind<OperatorWorker> = {
  fields: ['identity', 'takes', 'lastPollAt'],
  columns: [
    { title: 'WORKER', show: ({ identity }) => identity },
    { title: 'TAKES', show: ({ takes }) => takes.join(', ') },
    { title: 'LAST POLL', show: ({ lastPollAt }, shown) => shown.time(lastPollAt) },
  ],
  none: 'No worker asks for work: runs wait until one does.',
};

const LEASES: Kind<OperatorLease> = {
  fields: ['id', 'state', 'attempts'],
  columns: [
    { title: 'LEASE', show: ({ id }) => id },
    {
      title: 'STATE',
      show: ({ state }) => state,
      style: ({ state }) => (state === 'held' ? 'green' : 'yellow'),
    },
    { title: 'ATTEMPTS', show: ({ attempts }) => attempts },
  ],
  none: 'No leases.',
};

/** `worker list`: below `worker [file]`, which runs one. */
export function createWorkerListCommand(cli: Cli): Command {
  return new Command('list')
    .summary('list the workers that are running')
    .description(
      'List the workers that ask Temporal for work. (worker ./list runs one with a file of that\nname.)',
    )
    .option('--leases', 'the leases that they hold in the store instead')
    .action(async (_, self: Command) => {
      const { options, api, output } = workOf<GlobalOptions & { leases?: boolean }>(cli, self);
      const { workers, leases = [] } = await api.get<OperatorWorkers>('/api/operator/workers');
      if (options.leases === true) await output.list(LEASES, leases);
      else await output.list(WORKERS, workers);
    });
}
