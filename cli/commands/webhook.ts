import { Command } from 'commander';
import type { OperatorDelivery, OperatorReceivers } from '../../protocol/deliveries.js';
import { sleep } from '../../protocol/time.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { CliFailure } from '../failure.js';
import type { Kind } from '../output/output.js';
import { DELIVERIES, toPath } from './delivery.js';
import { workOf, type GlobalOptions } from './options.js';

const RECEIVERS_PATH = '/api/operator/receivers';
const LOOK_EVERY_MS = 300;
/** A test is tried for a shorter time. */
const GIVE_UP_MS = 30_000;

const RECEIVERS: Kind<OperatorReceivers['receivers'][number]> = {
  fields: ['name', 'kind', 'escalation'],
  columns: [
    { title: 'RECEIVER', show: ({ name }) => name },
    { title: 'KIND', show: ({ kind }) => kind },
    { title: 'ESCALATION', show: ({ escalation }) => (escalation ? 'yes' : 'no') },
  ],
  none: 'This server has no receivers.',
};

/** `webhook`: who is notified. */
export function createWebhookCommands(cli: Cli): Command {
  return new Command('webhook')
    .description('See who is notified, and send a test.')
    .addCommand(
      new Command('list')
        .description('List receivers, without addresses and secrets.')
        .action(async (_, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const { receivers } = await api.get<OperatorReceivers>(RECEIVERS_PATH);
          await output.list(RECEIVERS, receivers);
        }),
    )
    .addCommand(
      new Command('test')
        .description('Send a test to a receiver, and say whether it was taken.')
        .argument('<receiver>', 'its name')
        .action(async (name: string, _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const path = `${RECEIVERS_PATH}/${encodeURIComponent(name)}/test`;
          let delivery = await api.post<OperatorDelivery>(path);
          const until = Date.now() + GIVE_UP_MS;
          while (delivery.status === 'running' && Date.now() < until) {
            await sleep(LOOK_EVERY_MS);
            delivery = await api.get<OperatorDelivery>(toPath(delivery.id));
          }
          await output.one(DELIVERIES, delivery, delivery.problem);
          if (delivery.status !== 'delivered') {
            throw new CliFailure('It was not taken.', EXIT.failed);
          }
        }),
    );
}
