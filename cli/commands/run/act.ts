import { Command, Option } from 'commander';
import type { OperatorRun } from '../../../protocol/operator.js';
import { isTerminal } from '../../../protocol/run.js';
import type { ApiClient } from '../../api/client.js';
import type { Cli } from '../../cli.js';
import { confirm } from '../../confirm.js';
import { EXIT } from '../../exit-codes.js';
import { CliFailure, wrongUsage } from '../../failure.js';
import type { Kind } from '../../output/output.js';
import { shownText } from '../../output/shown-text.js';
import { addBatchOptions, runBatch, type BatchOptions } from '../batch/run-batch.js';
import { reasonOption, workOf, yesOption, type GlobalOptions } from '../options.js';
import {
  addRunFilter,
  isEmpty,
  readRuns,
  runPath,
  toRunQuery,
  type RunFilter,
} from './run-filter.js';
import { RUNS } from './run-kinds.js';

interface ActOptions extends GlobalOptions, RunFilter, BatchOptions {
  reason?: string;
  mode?: 'interrupt' | 'abort';
}

/** An act on runs. */
interface Act {
  name: 'stop' | 'retry' | 'resume';
  summary: string;
  description: string;
  /** Whether it makes sense for a run that a filter has found. */
  suits: (run: OperatorRun) => boolean;
}

/** What an act did to a run. */
interface Outcome {
  runId: string;
  outcome: string;
  /** The server's code, if it refused. */
  code?: string;
}

const OUTCOMES: Kind<Outcome> = {
  fields: ['runId', 'outcome', 'code'],
  columns: [
    { title: 'RUN', show: ({ runId }) => runId },
    {
      title: 'OUTCOME',
      show: ({ outcome }) => outcome,
      style: ({ code }) => (code === undefined ? undefined : 'red'),
    },
  ],
  none: 'No run matches.',
};

const STOP: Act = {
  name: 'stop',
  summary: 'stop runs',
  description: 'Stop runs; what they have written is kept.',
  suits: ({ status }) => !isTerminal(status),
};
const RETRY: Act = {
  name: 'retry',
  summary: 'repeat turns',
  description: 'Repeat the turns of runs that have ended.',
  suits: ({ status }) => isTerminal(status) && status !== 'completed',
};
const RESUME: Act = {
  name: 'resume',
  summary: 'continue runs',
  description: 'Continue runs that were stopped or have failed.',
  suits: ({ status }) => status === 'interrupted' || status === 'failed',
};

export function createActCommands(cli: Cli): Command[] {
  return [STOP, RETRY, RESUME].map((act) => createActCommand(cli, act));
}

function createActCommand(cli: Cli, act: Act): Command {
  const command = new Command(act.name)
    .summary(act.summary)
    .description(`${act.description} Name them, or select them with a filter.`)
    .argument('[runs...]', 'ids of runs');
  addRunFilter(command).addOption(reasonOption());
  if (act === RESUME) {
    command.addOption(yesOption()).option('--dry-run', 'only print which runs it would be');
  } else addBatchOptions(command);
  if (act === STOP) {
    command.addOption(
      new Option('--mode <mode>', 'whether they can be resumed (interrupt) or not (abort)')
        .choices(['interrupt', 'abort'])
        .default('interrupt'),
    );
  }
  return command.action(async (ids: string[], _, self: Command) => {
    const work = workOf<ActOptions>(cli, self);
    const { options, api, output } = work;
    const { reason, mode, dryRun = false } = options;
    if (ids.length > 0 !== isEmpty(options)) {
      throw wrongUsage('Name runs, or select them with -q, --status, --agent or --since.');
    }
    if (ids.length === 0 && act.name !== 'resume') {
      const filter = toRunQuery(options, cli.now());
      await runBatch(cli, work, { act: act.name, filter, reason, mode });
      return;
    }
    const found = ids.length > 0 ? undefined : await select();
    if (dryRun) await output.list(RUNS, found ?? describe());
    else if (found?.length === 0) await output.list(OUTCOMES, []);
    else await output.list(OUTCOMES, perform(await agreeOn(found)));

    async function select(): Promise<OperatorRun[]> {
      const selected: OperatorRun[] = [];
      const query = toRunQuery(options, cli.now());
      for await (const run of readRuns(api, query, undefined)) {
        if (run.subAgent !== true && act.suits(run)) selected.push(run);
      }
      return selected;
    }

    async function* describe(): AsyncGenerator<OperatorRun, void> {
      for (const runId of ids) yield api.get<OperatorRun>(runPath(runId));
    }

    /** Runs that a filter has found are shown before anything is done to them. */
    async function agreeOn(runs: OperatorRun[] | undefined): Promise<string[]> {
      if (runs === undefined) return ids;
      if (options.yes !== true) cli.terminal.note(await output.draw(RUNS, runs));
      await confirm(cli.terminal, `${act.name} ${String(runs.length)} runs?`, options);
      return runs.map(({ runId }) => runId);
    }

    async function* perform(runIds: string[]): AsyncGenerator<Outcome, void> {
      for (const [at, runId] of runIds.entries()) {
        const { outcome, failure } = await performOn(api, runId, act, { reason, mode });
        const isEnd = failure !== undefined && failure.exitCode !== EXIT.failed;
        if (isEnd && runIds.length === 1) throw failure;
        if (failure !== undefined) cli.exitWith(failure.exitCode);
        // Of many runs the report names those that were acted upon.
        yield outcome;
        if (!isEnd) continue;
        cli.terminal.note(`${String(runIds.length - at - 1)} more runs were not tried.`);
        return;
      }
    }
  });
}

/** A refusal is an outcome, as is a server that cannot be reached: `failure` says which. */
async function performOn(
  api: ApiClient,
  runId: string,
  { name }: Act,
  body: Pick<ActOptions, 'reason' | 'mode'>,
): Promise<{ outcome: Outcome; failure?: CliFailure }> {
  try {
    const reply = await api.post<{ result?: string; runId?: string }>(
      runPath(runId, `/${name}`),
      body,
    );
    const outcome = reply.result ?? `continues as ${reply.runId ?? runId}`;
    return { outcome: { runId, outcome } };
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    const { code = error.exitCode === EXIT.unavailable ? 'unavailable' : 'unknown' } = error;
    return { outcome: { runId, outcome: shownText(error.message), code }, failure: error };
  }
}
