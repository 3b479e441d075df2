import { Command } from 'commander';
import type { ConfigReply } from '../../protocol/replies.js';
import type { Cli } from '../cli.js';
import type { Kind } from '../output/output.js';
import { workOf, type GlobalOptions } from './options.js';

interface Agent {
  name: string;
  isDefault: boolean;
}

const AGENTS: Kind<Agent> = {
  fields: ['name', 'isDefault'],
  columns: [
    { title: 'AGENT', show: ({ name }) => name },
    { title: 'DEFAULT', show: ({ isDefault }) => (isDefault ? 'yes' : 'no') },
  ],
  none: 'This server has no agent that people may talk to.',
};

/** `agent`: what people may talk to. */
export function createAgentCommands(cli: Cli): Command {
  const noun = new Command('agent').description('See the agents of the server.');
  return noun.addCommand(
    new Command('list')
      .description('List the agents that people may talk to.')
      .action(async (_, self: Command) => {
        const { api, output } = workOf<GlobalOptions>(cli, self);
        const { agents, defaultAgent } = await api.get<ConfigReply>('/api/config');
        const list = agents.map((name) => ({ name, isDefault: name === defaultAgent }));
        await output.list(AGENTS, list);
      }),
  );
}
