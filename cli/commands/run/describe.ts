import { Command } from 'commander';
import type { OperatorRunDetail, OperatorEvents } from '../../../protocol/operator.js';
import type { ApiClient } from '../../api/client.js';
import { readPages } from '../../api/pages.js';
import type { Cli } from '../../cli.js';
import type { Column, Kind } from '../../output/output.js';
import { workOf, type GlobalOptions } from '../options.js';
import { wrongUsage } from '../../failure.js';
import { RUNS } from './run-filter.js';
import { runPath } from './run-filter.js';
import { toStepLines } from './step-lines.js';

const columns: Column<OperatorRunDetail>[] = [
  ...RUNS.columns,
  { title: 'SESSION', show: (run) => run.sessionId },
  { title: 'OWNER', show: (run) => run.owner },
  { title: 'BY', show: (run) => run.by },
  { title: 'MODE', show: (run) => run.mode },
  { title: 'MODEL', show: (run) => run.model },
  { title: 'STEPS', show: (run) => run.stepCount },
  { title: 'TOKENS', show: ({ usage }) => usage && usage.inputTokens + usage.outputTokens },
  { title: 'COST', show: ({ usage }) => toDollars(usage?.costMicroUsd) },
  { title: 'REASON', show: (run) => run.reason },
  { title: 'ERROR', show: ({ error }) => error && `${error.message} (${error.code})` },
];

const RUN: Kind<OperatorRunDetail> = {
  fields: [
    ...RUNS.fields,
    'owner',
    'by',
    'isNewest',
    'mode',
    'stepCount',
    'reason',
    'error',
    'usage',
    'steps',
    'pending',
  ],
  columns,
  none: 'No run.',
};

export function createDescribeCommand(cli: Cli): Command {
  return new Command('describe')
    .description('Show what is known of a run.')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, _, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      await output.one(RUN, await api.get<OperatorRunDetail>(runPath(runId)));
    });
}

type ShowOptions = GlobalOptions & { follow?: boolean; events?: boolean };

export function createShowCommand(cli: Cli): Command {
  return new Command('show')
    .description('Show the steps and tool calls of a run.')
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'until the run has ended')
    .option('--events', 'the log entries of its turn instead; the server records who has read them')
    .action(async (runId: string, _, self: Command) => {
      const { options, api, output } = workOf<ShowOptions>(cli, self);
      if (options.events === true) {
        if (options.follow === true) throw wrongUsage('Give --events or --follow, not both.');
        await output.list(EVENTS, readEvents(api, runId));
        return;
      }
      if (options.follow !== true) {
        const run = await api.get<OperatorRunDetail>(runPath(runId));
        await output.text(run, () => toStepLines(run, cli.terminal).join('\n'));
        return;
      }
      const { followRun } = await import('./follow.js');
      await followRun({ cli, api, output, runId });
    });
}

function toDollars(micro: number | undefined): string | undefined {
  return micro === undefined ? undefined : `$${(micro / 1_000_000).toFixed(4)}`;
}

export type RunEvent = OperatorEvents['events'][number];

const MOST_CHARS = 80;

/** Fields that every chunk has. */
const BASE = new Set(['type', 'agentId', 'agentType', 'timestamp', 'step', 'streamId']);

const EVENTS: Kind<RunEvent> = {
  fields: ['sequence', 'writer', 'message'],
  columns: [
    { title: 'SEQUENCE', show: ({ sequence }) => sequence },
    { title: 'TIME', show: ({ message }, shown) => shown.time(Number(message['timestamp'])) },
    { title: 'STEP', show: ({ message }) => toText(message['step']) },
    { title: 'WRITER', show: ({ writer }) => (writer === '' ? undefined : writer) },
    { title: 'TYPE', show: ({ message }) => message.type },
    { title: 'CONTENT', show: ({ message }) => toContent(message) },
  ],
  none: 'The log has nothing of this run any more.',
};

/** Reads a run's log entries, oldest first. */
function readEvents(api: ApiClient, runId: string): AsyncGenerator<RunEvent, void> {
  return readPages(async ({ cursor }) => {
    const query = { after: cursor };
    const page = await api.get<OperatorEvents>(runPath(runId, '/events'), { query });
    return { items: page.events, cursor: page.next === undefined ? undefined : String(page.next) };
  }, undefined);
}

/** Returns an entry's own fields as one short line. */
function toContent(message: RunEvent['message']): string {
  const own = Object.entries(message).filter(([name]) => !BASE.has(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined;
}
