import { Command, Option } from 'commander';
import type { OperatorDeliveries, OperatorDelivery } from '../../protocol/deliveries.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { CliFailure } from '../failure.js';
import type { Kind } from '../output/output.js';
import { limitOption, workOf, type GlobalOptions, type ListOptions } from './options.js';

const DELIVERIES_PATH = '/api/operator/deliveries';
export const toPath = (id: string): string => `${DELIVERIES_PATH}/${encodeURIComponent(id)}`;
/** The most that the server lists. */
const MOST_LISTED = 100;

export const DELIVERIES: Kind<OperatorDelivery> = {
  fields: [
    'id',
    'receiver',
    'type',
    'status',
    'noticeId',
    'sessionId',
    'runId',
    'toolCallId',
    'toolName',
    'startedAt',
    'endedAt',
    'attempts',
    'problem',
  ],
  columns: [
    { title: 'DELIVERY', show: ({ id }) => id },
    { title: 'RECEIVER', show: ({ receiver }) => receiver },
    { title: 'EVENT', show: ({ type }) => type },
    {
      title: 'STATUS',
      show: ({ status }) => status,
      style: ({ status }) => (status === 'failed' ? 'red' : undefined),
    },
    { title: 'SESSION', show: ({ sessionId }) => sessionId },
    { title: 'TOOL', show: ({ toolName }) => toolName },
    { title: 'STARTED', show: ({ startedAt }, shown) => shown.time(startedAt) },
  ],
  none: 'No deliveries.',
};

type Filter = ListOptions & { status?: OperatorDelivery['status'] };

/** `delivery`: notices to receivers. */
export function createDeliveryCommands(cli: Cli): Command {
  return new Command('delivery')
    .description('See notices to receivers, and send again those that were not taken.')
    .addCommand(
      new Command('list')
        .description('List deliveries, newest first.')
        .addOption(
          new Option('--status <status>', 'only these').choices(['running', 'delivered', 'failed']),
        )
        .addOption(limitOption())
        .action(async (_, self: Command) => {
          const { options, api, output } = workOf<Filter>(cli, self);
          const query = { limit: Math.min(options.limit, MOST_LISTED), status: options.status };
          const { deliveries } = await api.get<OperatorDeliveries>(DELIVERIES_PATH, { query });
          await output.list(DELIVERIES, deliveries);
        }),
    )
    .addCommand(
      new Command('describe')
        .description('Show a delivery, and why it was not taken.')
        .argument('<delivery>', 'id of the delivery')
        .action(async (id: string, _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const delivery = await api.get<OperatorDelivery>(toPath(id));
          await output.one(DELIVERIES, delivery, delivery.problem);
        }),
    )
    .addCommand(
      new Command('redeliver')
        .description('Send notices again that were not taken; receivers know them by their ids.')
        .argument('<delivery...>', 'ids of deliveries')
        .action(async (ids: string[], _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const begun: OperatorDelivery[] = [];
          let refused = 0;
          for (const id of ids) {
            try {
              begun.push(await api.post<OperatorDelivery>(`${toPath(id)}/redeliver`));
            } catch (error) {
              if (!(error instanceof CliFailure) || error.exitCode === EXIT.unavailable)
                throw error;
              cli.terminal.note(`${id}: ${error.message}`);
              refused += 1;
            }
          }
          await output.list(DELIVERIES, begun);
          if (refused > 0) throw new CliFailure(`${String(refused)} refused.`, EXIT.failed);
        }),
    );
}
