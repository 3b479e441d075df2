import { Command } from 'commander';
import type { OperatorReceivers, ReceiverTestReply } from '../../protocol/operator.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../failure.js';
import { CliFailure } from '../failure.js';
import type { Kind } from '../output/output.js';
import { workOf, type GlobalOptions } from './options.js';

const RECEIVERS_PATH = '/api/operator/receivers';

const RECEIVERS: Kind<OperatorReceivers['receivers'][number]> = {
  fields: ['name', 'kind', 'escalation'],
  columns: [
    { title: 'RECEIVER', show: ({ name }) => name },
    { title: 'KIND', show: ({ kind }) => kind },
    { title: 'ESCALATION', show: ({ escalation }) => (escalation ? 'yes' : 'no') },
  ],
  none: 'This server has no receivers.',
};

/** `webhook`: receivers of notices. */
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
          const reply = await api.post<ReceiverTestReply>(path);
          await output.text(reply, () => reply.problem ?? 'It was taken.');
          if (reply.status !== 'delivered') {
            throw new CliFailure('It was not taken.', EXIT.failed);
          }
        }),
    );
}
