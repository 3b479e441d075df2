import { Command } from 'commander';
import type { AgentStarted } from '../../protocol/agent-server.js';
import type { OperatorAgent, OperatorAgents, OperatorPauseReply } from '../../protocol/operator.js';
import type { ConfigReply } from '../../protocol/replies.js';
import type { ApiClient } from '../api/client.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../failure.js';
import { CliFailure } from '../failure.js';
import type { Kind } from '../output/output.js';
import { parseFuture, parseText } from '../parse-values.js';
import { createAgentScheduleCommands } from './agent-schedule.js';
import { reasonOption, workOf, type GlobalOptions, type ReasonOption } from './options.js';

type Agent = Pick<OperatorAgent, 'name' | 'isDefault'> &
  Partial<Omit<OperatorAgent, 'name' | 'isDefault'>>;

const AGENTS: Kind<Agent> = {
  fields: ['name', 'isPublic', 'isDefault', 'pauses', 'held'],
  columns: [
    { title: 'AGENT', show: ({ name }) => name },
    { title: 'DEFAULT', show: ({ isDefault }) => (isDefault ? 'yes' : 'no') },
    {
      title: 'PAUSED',
      show: ({ pauses }, shown) => toPaused(pauses, (at) => shown.time(at)),
      style: ({ pauses = [] }) => (pauses.length > 0 ? 'yellow' : undefined),
    },
    { title: 'HELD', show: ({ held }) => held },
  ],
  none: 'This server has no agent that people may talk to.',
};

/** `agent`: the agents that people may talk to. */
export function createAgentCommands(cli: Cli): Command {
  return new Command('agent')
    .description('See, start, pause and resume the agents of the server.')
    .addCommand(createListCommand(cli))
    .addCommand(createAgentStartCommand(cli))
    .addCommand(createPauseCommand(cli, 'pause'))
    .addCommand(createPauseCommand(cli, 'unpause'))
    .addCommand(createAgentScheduleCommands(cli));
}

function createListCommand(cli: Cli): Command {
  return new Command('list')
    .description('List the agents that people may talk to, and those that are paused.')
    .action(async (_, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      await output.list(AGENTS, await readAgents(api));
    });
}

/** People without a role get only the names. */
async function readAgents(api: ApiClient): Promise<Agent[]> {
  try {
    const { agents } = await api.get<OperatorAgents>('/api/operator/agents');
    return agents.filter(({ isPublic, pauses }) => isPublic || pauses.length > 0);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exitCode !== EXIT.notAllowed) throw error;
    const { agents, defaultAgent } = await api.get<ConfigReply>('/api/config');
    return agents.map((name) => ({ name, isDefault: name === defaultAgent }));
  }
}

const PAUSES = {
  pause: {
    summary: 'pause an agent',
    description:
      'Pause an agent: its runs continue, and new ones wait until it is resumed. run stop ends\n' +
      'those that are active.',
  },
  unpause: {
    summary: 'resume an agent',
    description: 'Resume an agent: the runs that have waited start in their order, 20 a second.',
  },
};
const RESULTS: Record<OperatorPauseReply['result'], string> = {
  paused: 'is paused: new runs wait.',
  already_paused: 'was paused before.',
  resumed: 'is resumed.',
  not_paused: 'was not paused.',
};

type PauseOptions = GlobalOptions & ReasonOption & { allTenants?: boolean };

function createPauseCommand(cli: Cli, act: 'pause' | 'unpause'): Command {
  return new Command(act)
    .summary(PAUSES[act].summary)
    .description(PAUSES[act].description)
    .argument('<agent>', 'its name')
    .option('--all-tenants', 'for all tenants, and users without one')
    .addOption(reasonOption())
    .action(async (agent: string, _, self: Command) => {
      const { options, api, output } = workOf<PauseOptions>(cli, self);
      const path = `/api/operator/agents/${encodeURIComponent(agent)}/${act}`;
      const { allTenants: everywhere, reason } = options;
      const reply = await api.post<OperatorPauseReply>(path, { everywhere, reason });
      await output.text(reply, () => `${agent} ${RESULTS[reply.result]}`);
    });
}

function toPaused(
  pauses: Agent['pauses'],
  time: (at: number | undefined) => string,
): string | undefined {
  if (pauses === undefined || pauses.length === 0) return undefined;
  return pauses
    .map(({ everywhere, at, by, reason }) =>
      [
        time(at),
        everywhere ? 'all tenants' : '',
        by === undefined ? '' : `by ${by}`,
        reason === undefined ? '' : `(${reason})`,
      ]
        .filter((part) => part !== '')
        .join(' '),
    )
    .join(', ');
}

interface StartOptions extends GlobalOptions {
  session?: string;
  at?: (now: number) => string;
}

/** `agent start`: one run, now or later. */
function createAgentStartCommand(cli: Cli): Command {
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
        agent,
        message,
        sessionId,
        startAt,
      });
      const isLater = startAt !== undefined && Date.parse(startAt) > now;
      const when = isLater ? `begins at ${startAt}` : 'has begun';
      await output.text(started, () => `${started.runId} ${when}.`);
    });
}
