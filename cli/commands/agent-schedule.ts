import { Command, Option } from 'commander';
import type {
  OperatorSchedule,
  OperatorScheduleDetail,
  OperatorScheduleReply,
  OperatorSchedules,
} from '../../protocol/schedules.js';
import type { Overlap, WhenBusy } from '../../protocol/called-runs.js';
import type { Cli } from '../cli.js';
import type { Kind } from '../output/output.js';
import { shownText } from '../output/shown-text.js';
import { parseDuration, parseText } from '../parse-values.js';
import { reasonOption, workOf, type GlobalOptions, type ReasonOption } from './options.js';

const PATH = '/api/operator/schedules';
const toPath = (name: string): string => `${PATH}/${encodeURIComponent(name)}`;

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
  columns: [
    { title: 'SCHEDULE', show: ({ name }) => name },
    { title: 'AGENT', show: ({ agent }) => agent },
    { title: 'OWNER', show: ({ owner }) => owner },
    { title: 'SESSION', show: ({ sessionId }) => sessionId },
    { title: 'TIMES', show: toTimes },
    {
      title: 'PAUSED',
      show: ({ isPaused, note }) => (isPaused ? (note ?? 'yes') : undefined),
      style: ({ isPaused }) => (isPaused ? 'yellow' : undefined),
    },
    { title: 'NEXT', show: ({ next, isPaused }, shown) => (isPaused ? '-' : shown.time(next[0])) },
  ],
  none: 'No schedules.',
};

/** `agent schedule`: runs that start at set times. */
export function createAgentScheduleCommands(cli: Cli): Command {
  return new Command('schedule')
    .description('Let runs of agents begin at set times.')
    .addCommand(createCreateCommand(cli))
    .addCommand(
      new Command('list')
        .description('List schedules by name.')
        .action(async (_, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const { schedules } = await api.get<OperatorSchedules>(PATH);
          await output.list(SCHEDULES, schedules);
        }),
    )
    .addCommand(
      named(new Command('describe').description('Show a schedule and its newest firings.')).action(
        async (name: string, _, self: Command) => {
          const { api, output } = workOf<GlobalOptions>(cli, self);
          const found = await api.get<OperatorScheduleDetail>(toPath(name));
          await output.one(DESCRIBED, found, toFiringLines(found));
        },
      ),
    )
    .addCommand(createActCommand(cli, 'pause'))
    .addCommand(createActCommand(cli, 'resume'))
    .addCommand(createActCommand(cli, 'trigger'))
    .addCommand(
      named(
        new Command('delete').description('Delete a schedule; runs that it has begun continue.'),
      ).action(async (name: string, _, self: Command) => {
        const { api, output } = workOf<GlobalOptions>(cli, self);
        const reply = await api.delete<OperatorScheduleReply>(toPath(name));
        await output.text(reply, () => `${name} is deleted.`);
      }),
    );
}

interface CreateOptions extends GlobalOptions {
  cron?: string;
  every?: number;
  timeZone?: string;
  session?: string;
  owner?: string;
  overlap?: Overlap;
  whenBusy?: WhenBusy;
  paused?: boolean;
}

function createCreateCommand(cli: Cli): Command {
  return named(new Command('create'))
    .summary('create a schedule')
    .description('Create a schedule: each firing sends the text to the agent, as its owner would.')
    .argument('<agent>', 'its name')
    .argument('<text>', 'the message')
    .addOption(
      new Option('--cron <times>', 'five fields, or @daily and the like').argParser(parseText),
    )
    .addOption(
      new Option('--every <duration>', 'instead of --cron, from 1m').argParser(parseDuration),
    )
    .addOption(new Option('--time-zone <zone>', 'of --cron; default: UTC').argParser(parseText))
    .addOption(
      new Option(
        '--session <session>',
        'continue this one; default: a new one each time',
      ).argParser(parseText),
    )
    .addOption(new Option('--owner <user>', 'whose runs; default: yours').argParser(parseText))
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
    .action(async (name: string, agent: string, message: string, _, self: Command) => {
      const { options, api, output } = workOf<CreateOptions>(cli, self);
      const { cron, every: everyMs, timeZone, session: sessionId, owner } = options;
      const { overlap, whenBusy, paused: isPaused } = options;
      const created = await api.post<OperatorSchedule>(PATH, {
        name,
        agent,
        message,
        cron,
        everyMs,
        timeZone,
        sessionId,
        owner,
        overlap,
        whenBusy,
        isPaused,
      });
      await output.one(SCHEDULES, created);
    });
}

const ACTS = {
  pause: { description: 'Pause a schedule; runs that it has begun continue.', done: 'is paused.' },
  resume: {
    description: 'Resume a schedule; what it has missed is not made up for.',
    done: 'is not paused.',
  },
  trigger: { description: 'Fire a schedule now, also while it is paused.', done: 'fires.' },
};

function createActCommand(cli: Cli, act: keyof typeof ACTS): Command {
  const { description, done } = ACTS[act];
  const command = named(new Command(act).description(description));
  if (act !== 'trigger') command.addOption(reasonOption());
  return command.action(async (name: string, _, self: Command) => {
    const { options, api, output } = workOf<GlobalOptions & ReasonOption>(cli, self);
    const { reason } = options;
    const body = act === 'trigger' ? undefined : { reason };
    const reply = await api.post<OperatorScheduleReply>(`${toPath(name)}/${act}`, body);
    await output.text(reply, () => `${name} ${done}`);
  });
}

function named(command: Command): Command {
  return command.argument('<name>', 'of the schedule');
}

const DESCRIBED: Kind<OperatorScheduleDetail> = {
  fields: [...SCHEDULES.fields, 'message', 'firings', 'counts'],
  columns: [
    ...SCHEDULES.columns,
    { title: 'OVERLAP', show: ({ overlap }) => overlap },
    { title: 'WHEN BUSY', show: ({ whenBusy }) => whenBusy },
    { title: 'FIRED', show: ({ counts }) => counts.fired },
    { title: 'SKIPPED', show: ({ counts }) => counts.skipped },
    { title: 'MISSED', show: ({ counts }) => counts.missed },
    { title: 'MESSAGE', show: ({ message }) => message },
  ],
  none: SCHEDULES.none,
};

function toTimes({ cron, everyMs, timeZone }: OperatorSchedule): string {
  return cron === undefined
    ? `every ${String((everyMs ?? 0) / MINUTE_MS)}m`
    : `${cron} ${timeZone}`;
}

const MINUTE_MS = 60_000;

/** One line per firing; undefined without any. */
function toFiringLines({ firings }: OperatorScheduleDetail): string | undefined {
  if (firings.length === 0) return undefined;
  return firings
    .map(({ at, status, code = '', runId = '' }) =>
      shownText([new Date(at).toISOString(), status, code, runId].filter(Boolean).join('  ')),
    )
    .join('\n');
}
