import type { AgentStarted } from '../../protocol/agent-server.js';
import type { OperatorAgent, OperatorAgents, OperatorPauseReply } from '../../protocol/operator.js';
import type { ConfigReply } from '../../protocol/replies.js';
import type { ApiClient } from '../api/client.js';
import { CliFailure, EXIT } from '../failure.js';
import type { Kind, Shown } from '../output/output.js';
import { parseFuture, parseText } from '../parse-values.js';
import { addScheduleCommands } from './agent-schedule.js';
import { REASON, type ReasonOption, type Work, type ApiCommand } from './api-command.js';

type Agent = Pick<OperatorAgent, 'name' | 'isDefault'> & Partial<OperatorAgent>;

const AGENTS: Kind<Agent> = {
  fields: ['name', 'isPublic', 'isDefault', 'pauses', 'held'],
  columns: {
    AGENT: ({ name }) => name,
    DEFAULT: ({ isDefault }) => (isDefault ? 'yes' : 'no'),
    PAUSED: ({ pauses = [] }, shown) =>
      pauses.length > 0 ? pauses.map((pause) => toPaused(pause, shown)).join(', ') : undefined,
    HELD: ({ held }) => held,
  },
  styles: { PAUSED: ({ pauses = [] }) => (pauses.length > 0 ? 'yellow' : undefined) },
  none: 'This server has no agent that people may talk to.',
};

function toPaused(pause: OperatorAgent['pauses'][number], shown: Shown): string {
  const { everywhere, at, by, reason } = pause;
  return [
    shown.time(at),
    ...(everywhere ? ['all tenants'] : []),
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(reason === undefined ? [] : [`(${reason})`]),
  ].join(' ');
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

interface StartOptions {
  session?: string;
  at?: (now: number) => string;
}

/** `agent`: the agents that people may talk to. */
export function addAgentCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program
    .command('agent')
    .description('See, start, pause and resume the agents of the server.');
  noun
    .command('list')
    .description('List the agents that people may talk to, and those that are paused.')
    .act(async ({ api, output }) => {
      await output.list(AGENTS, await readAgents(api));
    });
  noun
    .command('start')
    .summary('begin a run')
    .description(
      'Begin a run with a message, now or at a time: it waits for that, in the lists too, and\n' +
        'run stop ends it before.',
    )
    .argument('<agent>', 'its name')
    .argument('<message>', 'what it is asked', parseText)
    .option('--session <id>', 'the conversation; default: a new one', parseText)
    .option('--at <time>', 'when it begins: in a while such as 2h, or a date', parseFuture)
    .act(async (work: Work<StartOptions>, agent: string, message: string) => {
      const { session: sessionId, at } = work.options;
      const now = cli.now();
      const startAt = at?.(now);
      const body = { agent, message, sessionId, startAt };
      const started = await work.api.post<AgentStarted>('/api/agent/start', body);
      const isLater = startAt !== undefined && Date.parse(startAt) > now;
      const when = isLater ? `begins at ${startAt}` : 'has begun';
      await work.output.text(started, () => `${started.runId} ${when}.`);
    });
  for (const act of ['pause', 'unpause'] as const) {
    noun
      .command(act)
      .summary(PAUSES[act].summary)
      .description(PAUSES[act].description)
      .argument('<agent>', 'its name')
      .option('--all-tenants', 'for all tenants, and users without one')
      .option(...REASON)
      .act(async (work: Work<ReasonOption & { allTenants?: boolean }>, agent: string) => {
        const path = `/api/operator/agents/${encodeURIComponent(agent)}/${act}`;
        const { allTenants: everywhere, reason } = work.options;
        const reply = await work.api.post<OperatorPauseReply>(path, { everywhere, reason });
        await work.output.text(reply, () => `${agent} ${RESULTS[reply.result]}`);
      });
  }
  addScheduleCommands(noun);
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
