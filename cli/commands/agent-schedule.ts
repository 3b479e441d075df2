import { Option } from 'commander';
import type {
  Overlap,
  WhenBusy,
  OperatorSchedule,
  OperatorScheduleDetail,
  OperatorScheduleReply,
  OperatorSchedules,
} from '../../protocol/schedules.js';
import type { Kind } from '../output/output.js';
import { shownText } from '../output/shown-text.js';
import { parseDuration, parseText } from '../parse-values.js';
import { REASON, type ReasonOption, type Work, type ApiCommand } from './api-command.js';

const PATH = '/api/operator/schedules';
const toPath = (name: string): string => `${PATH}/${encodeURIComponent(name)}`;
const NAME = ['<name>', 'of the schedule'] as const;

const OVERLAPS: Overlap[] = ['skip', 'buffer_one', 'cancel_other', 'allow_all'];
const WHEN_BUSY: WhenBusy[] = ['skip', 'wait', 'abandon'];

const SCHEDULES: Kind<OperatorSchedule> = {
  fields: [
    'name',
    'agent',
    'owner',
    'sessionId',
    'cron',
    'everyMs',
    'timeZone',
    'overlap',
    'whenBusy',
    'isPaused',
    'note',
    'by',
    'createdAt',
    'next',
  ],
  columns: {
    SCHEDULE: ({ name }) => name,
    AGENT: ({ agent }) => agent,
    OWNER: ({ owner }) => owner,
    SESSION: ({ sessionId }) => sessionId,
    TIMES: ({ cron, everyMs = 0, timeZone }) =>
      cron === undefined ? `every ${String(everyMs / 60_000)}m` : `${cron} ${timeZone}`,
    PAUSED: ({ isPaused, note }) => (isPaused ? (note ?? 'yes') : undefined),
    NEXT: ({ next, isPaused }, shown) => (isPaused ? '-' : shown.time(next[0])),
  },
  styles: { PAUSED: ({ isPaused }) => (isPaused ? 'yellow' : undefined) },
  none: 'No schedules.',
};

const DESCRIBED: Kind<OperatorScheduleDetail> = {
  ...SCHEDULES,
  fields: [...SCHEDULES.fields, 'message', 'firings', 'counts'],
  columns: {
    ...SCHEDULES.columns,
    OVERLAP: ({ overlap }) => overlap,
    'WHEN BUSY': ({ whenBusy }) => whenBusy,
    FIRED: ({ counts }) => counts.fired,
    SKIPPED: ({ counts }) => counts.skipped,
    MISSED: ({ counts }) => counts.missed,
    MESSAGE: ({ message }) => message,
  },
};

/** One line per firing; undefined without any. */
function toFiringLines({ firings }: OperatorScheduleDetail): string | undefined {
  if (firings.length === 0) return undefined;
  return firings
    .map(({ at, status, code = '', runId = '' }) =>
      shownText([new Date(at).toISOString(), status, code, runId].filter(Boolean).join('  ')),
    )
    .join('\n');
}

/** Acts on one schedule. Only the first two take a reason. */
const ACTS = {
  pause: ['Pause a schedule; runs that it has begun continue.', 'is paused.'],
  resume: ['Resume a schedule; what it has missed is not made up for.', 'is not paused.'],
  trigger: ['Fire a schedule now, also while it is paused.', 'fires.'],
  delete: ['Delete a schedule; runs that it has begun continue.', 'is deleted.'],
} as const;

interface CreateOptions {
  cron?: string;
  every?: number;
  timeZone?: string;
  session?: string;
  owner?: string;
  overlap?: Overlap;
  whenBusy?: WhenBusy;
  paused?: boolean;
}

/** `agent schedule`: runs that start at set times. */
export function addScheduleCommands(agent: ApiCommand): void {
  const noun = agent.command('schedule').description('Let runs of agents begin at set times.');
  noun
    .command('create')
    .argument(...NAME)
    .summary('create a schedule')
    .description('Create a schedule: each firing sends the text to the agent, as its owner would.')
    .argument('<agent>', 'its name')
    .argument('<text>', 'the message')
    .option('--cron <times>', 'five fields, or @daily and the like', parseText)
    .option('--every <duration>', 'instead of --cron, from 1m', parseDuration)
    .option('--time-zone <zone>', 'of --cron; default: UTC', parseText)
    .option('--session <session>', 'continue this one; default: a new one each time', parseText)
    .option('--owner <user>', 'whose runs; default: yours', parseText)
    .addOption(
      new Option('--overlap <policy>', 'while its run before is not over; default: skip').choices(
        OVERLAPS,
      ),
    )
    .addOption(
      new Option(
        '--when-busy <policy>',
        'while another run is active in the session; default: skip',
      ).choices(WHEN_BUSY),
    )
    .option('--paused', 'fires only once it is resumed, or triggered')
    .act(async (work: Work<CreateOptions>, ...named: [string, string, string]) => {
      const [name, agentName, message] = named;
      const { cron, every: everyMs, timeZone, session: sessionId, owner } = work.options;
      const { overlap, whenBusy, paused: isPaused } = work.options;
      const times = { cron, everyMs, timeZone, isPaused };
      const runs = { agent: agentName, message, sessionId, owner, overlap, whenBusy };
      const created = await work.api.post<OperatorSchedule>(PATH, { name, ...times, ...runs });
      await work.output.one(SCHEDULES, created);
    });
  noun
    .command('list')
    .description('List schedules by name.')
    .act(async ({ api, output }) => {
      const { schedules } = await api.get<OperatorSchedules>(PATH);
      await output.list(SCHEDULES, schedules);
    });
  noun
    .command('describe')
    .description('Show a schedule and its newest firings.')
    .argument(...NAME)
    .act(async ({ api, output }, name: string) => {
      const found = await api.get<OperatorScheduleDetail>(toPath(name));
      await output.one(DESCRIBED, found, toFiringLines(found));
    });
  for (const act of ['pause', 'resume', 'trigger', 'delete'] as const) {
    const [description, done] = ACTS[act];
    const command = noun
      .command(act)
      .description(description)
      .argument(...NAME);
    if (act === 'pause' || act === 'resume') command.option(...REASON);
    command.act(async ({ options, api, output }: Work<ReasonOption>, name: string) => {
      const path = toPath(name);
      const reply = await (act === 'delete'
        ? api.delete<OperatorScheduleReply>(path)
        : api.post<OperatorScheduleReply>(`${path}/${act}`, { reason: options.reason }));
      await output.text(reply, () => `${name} ${done}`);
    });
  }
}
