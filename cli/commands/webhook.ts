import type { OperatorReceivers, ReceiverTestReply } from '../../protocol/operator.js';
import { CliFailure } from '../failure.js';
import type { Kind } from '../output/output.js';
import type { ApiCommand } from './api-command.js';

const RECEIVERS_PATH = '/api/operator/receivers';

const RECEIVERS: Kind<OperatorReceivers['receivers'][number]> = {
  fields: ['name', 'kind', 'escalation'],
  columns: {
    RECEIVER: ({ name }) => name,
    KIND: ({ kind }) => kind,
    ESCALATION: ({ escalation }) => (escalation ? 'yes' : 'no'),
  },
  none: 'This server has no receivers.',
};

/** `webhook`: receivers of notices. */
export function addWebhookCommands(program: ApiCommand): void {
  const noun = program.command('webhook').description('See who is notified, and send a test.');
  noun
    .command('list')
    .description('List receivers, without addresses and secrets.')
    .act(async ({ api, output }) => {
      const { receivers } = await api.get<OperatorReceivers>(RECEIVERS_PATH);
      await output.list(RECEIVERS, receivers);
    });
  noun
    .command('test')
    .description('Send a test to a receiver, and say whether it was taken.')
    .argument('<receiver>', 'its name')
    .act(async ({ api, output }, name: string) => {
      const path = `${RECEIVERS_PATH}/${encodeURIComponent(name)}/test`;
      const reply = await api.post<ReceiverTestReply>(path);
      await output.text(reply, () => reply.problem ?? 'It was taken.');
      if (reply.status !== 'delivered') throw new CliFailure('It was not taken.');
    });
}
