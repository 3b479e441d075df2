import { Command } from 'commander';
import type { AgentStarted } from '../../protocol/agent-server.js';
import type { Cli } from '../cli.js';
import { parseFuture, parseText } from '../parse-values.js';
import { workOf, type GlobalOptions } from './options.js';

interface StartOptions extends GlobalOptions {
  session?: string;
  at?: (now: number) => string;
}

/** `agent start`: one run, now or later. */
export function createAgentStartCommand(cli: Cli): Command {
  return new Command('start')
    .summary('begin a run')
    .description(
      'Begin a run with a message, now or at a time: it waits for that, in the lists too, and\n' +
        'run stop ends it before.',
    )
    .argument('<agent>', 'its name')
    .argument('<message>', 'what it is asked', parseText)
    .option('--session <id>', 'the conversation; default: a new one', parseText)
    .option('--at <time>', 'when it begins: in a while such as 2h, or a date', parseFuture)
    .action(async (agent: string, message: string, _, self: Command) => {
      const { options, api, output } = workOf<StartOptions>(cli, self);
      const { session: sessionId, at } = options;
      const now = cli.now();
      const startAt = at?.(now);
      const started = await api.post<AgentStarted>('/api/agent/start', {
        ...{ agent, message, sessionId, startAt },
      });
      const isLater = startAt !== undefined && Date.parse(startAt) > now;
      const when = isLater ? `begins at ${startAt}` : 'has begun';
      await output.text(started, () => `${started.runId} ${when}.`);
    });
}
