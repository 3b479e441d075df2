import type { Command } from 'commander';
import { actOnEach, isNothingToDo } from '../../protocol/operator-clients.js';
import type { ApiClient } from '../api/client.js';
import { CliFailure, EXIT } from '../failure.js';
import type { Kind } from '../output/output.js';
import { shownText } from '../output/shown-text.js';
import { confirm } from '../terminal.js';
import { YES, type ConsentOptions, type Work } from './api-command.js';

interface Outcome {
  runId: string;
  toolCallId?: string | undefined;
  outcome: string;
  code?: string;
}

const OUTCOMES: Kind<Outcome> = {
  fields: ['runId', 'toolCallId', 'outcome', 'code'],
  columns: {
    RUN: ({ runId }) => runId,
    CALL: ({ toolCallId }) => toolCallId,
    OUTCOME: ({ outcome }) => outcome,
  },
  styles: { OUTCOME: ({ code }) => (code === undefined ? undefined : 'red') },
  none: 'No run matches.',
};

export interface ManyOptions extends ConsentOptions {
  dryRun?: boolean;
}

export function addManyOptions<C extends Command>(command: C): C {
  return command.option(...YES).option('--dry-run', 'only print which they would be');
}

/** A run or a call, and the request that acts on it. */
export interface Target {
  runId: string;
  toolCallId?: string;
  path: string;
  body: object;
}

interface Found<T> {
  act: string;
  kind: Kind<T>;
  found: readonly T[];
  toTarget: (item: T) => Target;
}

/** Lists the items that a filter found, asks for confirmation, and sends a request for each. */
export async function actOnFound<T extends object>(
  work: Work<ManyOptions>,
  { act, kind, found, toTarget }: Found<T>,
): Promise<void> {
  const { cli, output, options } = work;
  if (options.dryRun === true || found.length === 0) {
    await output.list(kind, found);
    return;
  }
  if (options.yes !== true) cli.terminal.note(output.draw(kind, found));
  const question = `${act} ${String(found.length)}?`;
  await confirm(cli.terminal, question, options, 'give -y, or --dry-run to look');
  await actOnAll(work, found.map(toTarget), { isFound: true });
}

/**
 * Sends a request for each target and prints the results. Ctrl-C or an unreachable server ends it after the
 * requests in flight.
 *
 * @param isFound true if a filter found the targets: others may act on them meanwhile, which is no failure
 * @throws CliFailure if the only target failed for another reason than a refusal
 */
export async function actOnAll(
  { cli, api, output }: Work,
  targets: readonly Target[],
  { isFound = false }: { isFound?: boolean } = {},
): Promise<void> {
  const sums = { done: 0, skipped: 0, refused: 0 };
  let isOver = false as boolean;
  let isInterrupted = false as boolean;
  cli.takeInterrupts(() => {
    isOver = true;
    isInterrupted = true;
  });

  async function perform(target: Target): Promise<Outcome> {
    const { outcome, failure } = await send(api, target);
    const isOwn = failure === undefined || failure.exitCode === EXIT.failed;
    if (!isOwn && targets.length === 1) throw failure;
    // The next request would fail as well.
    isOver ||= !isOwn && failure.code !== 'not_allowed';
    const isNothing =
      failure === undefined ? outcome.outcome === 'nothing' : isNothingToDo(failure.code);
    if (isFound && isNothing) sums.skipped += 1;
    else if (failure === undefined) sums.done += 1;
    else {
      sums.refused += 1;
      cli.exitWith(failure.exitCode);
    }
    return outcome;
  }

  const outcomes = actOnEach(targets, perform, () => isOver);
  await output.list(OUTCOMES, outcomes);
  if (isInterrupted) cli.exitWith(EXIT.interrupted);
  if (targets.length === 1) return;
  const { done, skipped, refused } = sums;
  const left = targets.length - done - skipped - refused;
  cli.terminal.note(
    `${String(done)} done, ${String(skipped)} skipped, ${String(refused)} refused, ${String(left)} left.`,
  );
}

/** Returns refusals and unreachable servers as outcomes, with `failure` set. */
async function send(
  api: ApiClient,
  { path, body, runId, toolCallId }: Target,
): Promise<{ outcome: Outcome; failure?: CliFailure }> {
  const named = { runId, ...(toolCallId !== undefined && { toolCallId }) };
  try {
    const reply = await api.post<{ result?: string; runId?: string }>(path, body);
    const outcome = reply.result ?? `continues as ${reply.runId ?? runId}`;
    return { outcome: { ...named, outcome } };
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    const { code = error.exitCode === EXIT.unavailable ? 'unavailable' : 'unknown' } = error;
    return { outcome: { ...named, outcome: shownText(error.message), code }, failure: error };
  }
}
