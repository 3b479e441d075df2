import type { OperatorRunDetail } from '../../../protocol/operator.js';
import { isTerminal, type RunStatus } from '../../../protocol/run.js';
import { sleep } from '../../../protocol/time.js';
import type { ApiClient } from '../../api/client.js';
import type { Cli } from '../../cli.js';
import { EXIT, type ExitCode } from '../../exit-codes.js';
import { CliFailure } from '../../failure.js';
import type { Output } from '../../output/output.js';
import { runPath } from './run-filter.js';
import { toStepLines } from './step-lines.js';

const LOOK_EVERY_MS = 1_000;
/** So many looks in a row may fail once one has succeeded: a server that is replaced comes back. */
const MOST_MISSES = 5;

/** States of a run, one after the other, as often as it changes. @throws CliFailure */
export async function* watchStates(
  api: ApiClient,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<OperatorRunDetail, void> {
  let before: string | undefined;
  let misses = 0;
  while (signal?.aborted !== true) {
    let run: OperatorRunDetail | undefined;
    try {
      run = await api.get<OperatorRunDetail>(runPath(runId), { signal });
      misses = 0;
    } catch (error) {
      misses += 1;
      if (before === undefined || misses > MOST_MISSES || !isUnavailable(error)) throw error;
    }
    const now = run && JSON.stringify(run);
    if (run !== undefined && now !== before) yield run;
    if (run !== undefined && isTerminal(run.status)) return;
    before = now ?? before;
    await sleep(LOOK_EVERY_MS, signal);
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CliFailure && error.exitCode === EXIT.unavailable;
}

/** Prints what is new of a run until it has ended, and ends with its exit code. */
export async function followRun(work: {
  cli: Cli;
  api: ApiClient;
  output: Output;
  runId: string;
}): Promise<void> {
  const { cli, api, output, runId } = work;
  let printed = new Set<string>();
  for await (const run of watchStates(api, runId)) {
    const lines = toStepLines(run, cli.terminal);
    const added = lines.filter((line) => !printed.has(line));
    if (added.length > 0) await output.text(run, () => added.join('\n'));
    printed = new Set(lines);
    cli.exitWith(exitCodeOf(run.status));
  }
}

/** @returns undefined while the run continues without people */
export function restOf(status: RunStatus): ExitCode | undefined {
  if (status === 'waiting_approval' || status === 'waiting_tool') return EXIT.waits;
  return isTerminal(status) ? exitCodeOf(status) : undefined;
}

function exitCodeOf(status: RunStatus): ExitCode {
  if (status === 'failed') return EXIT.failed;
  return status === 'interrupted' || status === 'aborted' ? EXIT.stopped : EXIT.done;
}
