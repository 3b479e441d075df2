import { Option } from 'commander';
import type {
  OperatorEvents,
  OperatorForkReply,
  OperatorRun,
  OperatorRunCount,
  OperatorRunDetail,
} from '../../../protocol/operator.js';
import type { ApiClient } from '../../api/client.js';
import { readPages } from '../../api/pages.js';
import { CliFailure, EXIT, wrongUsage } from '../../failure.js';
import type { Kind } from '../../output/output.js';
import { parseDuration, parseStep } from '../../parse-values.js';
import { actOnAll, actOnFound, addManyOptions, type ManyOptions, type Target } from '../many.js';
import {
  LIMIT,
  noteMore,
  REASON,
  type ListOptions,
  type ReasonOption,
  type Work,
  type ApiCommand,
} from '../api-command.js';
import { followRun, restOf, toStepLines, watchStates } from './follow.js';
import {
  addRunFilter,
  findSuited,
  isEmpty,
  readRuns,
  runPath,
  RUNS,
  toRunQuery,
  type RunFilter,
} from './run-list.js';

const ID = ['<run>', 'id of the run'] as const;

const RUN_GROUPS: Kind<OperatorRunCount['groups'][number]> = {
  fields: ['value', 'count'],
  columns: { VALUE: (group) => group.value, RUNS: (group) => group.count },
  none: 'No runs.',
};

const RUN: Kind<OperatorRunDetail> = {
  ...RUNS,
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
  columns: {
    ...RUNS.columns,
    SESSION: (run) => run.sessionId,
    OWNER: (run) => run.owner,
    BY: (run) => run.by,
    MODE: (run) => run.mode,
    MODEL: (run) => run.model,
    STEPS: (run) => run.stepCount,
    TOKENS: ({ usage }) => usage && usage.inputTokens + usage.outputTokens,
    COST: ({ usage: { costMicroUsd } = {} }) =>
      costMicroUsd === undefined ? undefined : `$${(costMicroUsd / 1_000_000).toFixed(4)}`,
    REASON: (run) => run.reason,
    ERROR: ({ error }) => error && `${error.message} (${error.code})`,
  },
};

export type RunEvent = OperatorEvents['events'][number];

const EVENTS: Kind<RunEvent> = {
  fields: ['sequence', 'writer', 'message'],
  columns: {
    SEQUENCE: ({ sequence }) => sequence,
    TIME: ({ message }, shown) => shown.time(Number(message['timestamp'])),
    STEP: ({ message: { step } }) => (typeof step === 'number' ? step : undefined),
    WRITER: ({ writer }) => (writer === '' ? undefined : writer),
    TYPE: ({ message }) => message.type,
    CONTENT: ({ message }) => toContent(message),
  },
  none: 'The log has nothing of this run any more.',
};

const MAX_CHARS = 80;
/** Fields that every chunk has. */
const BASE = new Set(['type', 'agentId', 'agentType', 'timestamp', 'step', 'streamId']);

function toContent(message: RunEvent['message']): string {
  const own = Object.entries(message).filter(([name]) => !BASE.has(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

/** `run`: the runs of agents. */
export function addRunCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program.command('run').description('See, stop, resume, repeat and fork runs.');
  addRunFilter(noun.command('list').description('List runs, newest first.'))
    .option(...LIMIT)
    .act(async (work: Work<ListOptions & RunFilter>) => {
      const { options, api, output } = work;
      const query = toRunQuery(options, cli.now());
      const read = async (page: object) => {
        const { runs: items, cursor } = await readRuns(api, { ...query, ...page });
        return { items, cursor };
      };
      await output.list(RUNS, readPages(read, options.limit, noteMore(work)));
    });
  addRunFilter(noun.command('count').description('Count runs.'))
    .addOption(
      new Option('--group-by <what>', 'what the counts are of')
        .choices(['status', 'agent', 'tenant'])
        .default('status'),
    )
    .act(async ({ options, api, output }: Work<RunFilter & { groupBy: string }>) => {
      const query = { ...toRunQuery(options, cli.now()), groupBy: options.groupBy };
      const counts = await api.get<OperatorRunCount>('/api/operator/runs/count', { query });
      const { groups, total } = counts;
      await output.text(
        counts,
        () => `${output.draw(RUN_GROUPS, groups)}\n${String(total)} in all`,
      );
    });
  noun
    .command('describe')
    .description('Show what is known of a run.')
    .argument(...ID)
    .act(async ({ api, output }, runId: string) => {
      await output.one(RUN, await api.get<OperatorRunDetail>(runPath(runId)));
    });
  addShowCommand(noun);
  addWatchCommand(noun);
  addActCommand(noun, 'stop', {
    summary: 'stop runs',
    description: 'Stop runs; what they have written is kept.',
  }).addOption(
    new Option('--mode <mode>', 'whether they can be resumed (interrupt) or not (abort)')
      .choices(['interrupt', 'abort'])
      .default('interrupt'),
  );
  addActCommand(noun, 'retry', {
    summary: 'repeat turns',
    description: 'Repeat the turns of runs that have ended.',
  });
  addActCommand(noun, 'resume', {
    summary: 'continue runs',
    description: 'Continue runs that were stopped or have failed.',
  });
  addForkCommand(noun);
}

function addShowCommand(noun: ApiCommand): void {
  const { cli } = noun;
  noun
    .command('show')
    .description('Show the steps and tool calls of a run.')
    .argument(...ID)
    .option('-f, --follow', 'until the run has ended')
    .option('--events', 'the log entries of its turn instead; the server records who has read them')
    .act(async (work: Work<{ follow?: boolean; events?: boolean }>, runId: string) => {
      const { options, api, output } = work;
      const { follow = false, events = false } = options;
      if (events && follow) throw wrongUsage('Give --events or --follow, not both.');
      if (events) await output.list(EVENTS, readEvents(api, runId));
      else if (follow) await followRun(work, runId);
      else {
        const run = await api.get<OperatorRunDetail>(runPath(runId));
        await output.text(run, () => toStepLines(run, cli.terminal).join('\n'));
      }
    });
}

function readEvents(api: ApiClient, runId: string): AsyncGenerator<RunEvent, void> {
  return readPages(async ({ cursor }) => {
    const query = { after: cursor };
    const page = await api.get<OperatorEvents>(runPath(runId, '/events'), { query });
    return { items: page.events, cursor: page.next === undefined ? undefined : String(page.next) };
  }, undefined);
}

/** A longer timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function addWatchCommand(noun: ApiCommand): void {
  const { cli } = noun;
  noun
    .command('watch')
    .summary('wait until a run rests')
    .description(
      'Wait until a run has ended or waits for people. Exits with 0 if it completed, 1 if it\n' +
        'failed, 2 if it waits for people, 3 if it was stopped, 124 after the timeout.',
    )
    .argument(...ID)
    .option('--timeout <duration>', 'wait at most so long', parseDuration)
    .act(async ({ options, api, output }: Work<{ timeout?: number }>, runId: string) => {
      const { timeout } = options;
      const signal =
        timeout === undefined ? undefined : AbortSignal.timeout(Math.min(timeout, MAX_TIMER_MS));
      try {
        for await (const run of watchStates(api, runId, signal)) {
          const exitCode = restOf(run.status);
          if (exitCode === undefined) {
            cli.terminal.note(`${run.runId} is ${run.status}.`);
            continue;
          }
          await output.one(RUNS, run);
          cli.exitWith(exitCode);
          return;
        }
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      }
      throw new CliFailure(`${runId} has not ended yet.`, EXIT.timeout);
    });
}

interface ActOptions extends RunFilter, ManyOptions, ReasonOption {
  mode?: 'interrupt' | 'abort';
}

function addActCommand(
  noun: ApiCommand,
  act: 'stop' | 'retry' | 'resume',
  { summary, description }: { summary: string; description: string },
): ApiCommand {
  const { cli } = noun;
  const command = noun
    .command(act)
    .summary(summary)
    .description(`${description} Name them, or select them with a filter.`)
    .argument('[runs...]', 'ids of runs');
  return addManyOptions(addRunFilter(command).option(...REASON)).act(
    async (work: Work<ActOptions>, ids: string[]) => {
      const { options, api, output } = work;
      const { reason, mode, dryRun = false } = options;
      if (ids.length > 0 !== isEmpty(options)) {
        throw wrongUsage('Name runs, or select them with -q, --status, --agent or --since.');
      }
      const toTarget = (runId: string): Target => ({
        runId,
        path: runPath(runId, `/${act}`),
        body: { reason, mode },
      });
      if (ids.length === 0) {
        const found = await findSuited(api, toRunQuery(options, cli.now()), act);
        await actOnFound(work, {
          act,
          kind: RUNS,
          found: found.filter(({ subAgent }) => subAgent !== true),
          toTarget: ({ runId }) => toTarget(runId),
        });
      } else if (dryRun) await output.list(RUNS, describe(api, ids));
      else await actOnAll(work, ids.map(toTarget));
    },
  );
}

async function* describe(api: ApiClient, ids: string[]): AsyncGenerator<OperatorRun, void> {
  for (const runId of ids) yield api.get<OperatorRun>(runPath(runId));
}

type ForkOptions = ReasonOption & { step: number; session?: string };

function addForkCommand(noun: ApiCommand): void {
  noun
    .command('fork')
    .summary('continue a copy from a step')
    .description(
      'Copy the conversation up to a step of a run, and continue the copy with the next step. Tools\n' +
        'of later steps are executed again. The conversation itself stays as it is.',
    )
    .argument(...ID)
    .requiredOption('--step <n>', 'the last step of the copy; 0 repeats the turn', parseStep)
    .option('--session <id>', 'id of the copy; default: one is made')
    .option(...REASON)
    .act(async ({ options, api, output }: Work<ForkOptions>, runId: string) => {
      const { step, session: sessionId, reason } = options;
      const body = { step, sessionId, reason };
      const reply = await api.post<OperatorForkReply>(runPath(runId, '/fork'), body);
      await output.text(reply, () => `${reply.sessionId} continues as ${reply.runId}`);
    });
}
