import type { OperatorRunDetail } from '../../../protocol/operator.js';
import { isTerminal, type RunStatus } from '../../../protocol/run.js';
import { sleep } from '../../../protocol/time.js';
import type { ApiClient } from '../../api/client.js';
import type { Cli } from '../../cli.js';
import { CliFailure, EXIT, type ExitCode } from '../../failure.js';
import type { Output } from '../../output/output.js';
import { runPath } from './run-filter.js';
import { toStepLines } from './step-lines.js';

/** After one success, this many consecutive reads may fail, so that a server restart is survived. */
const MOST_MISSES = 5;

/**
 * Returns a read that can be repeated across a server restart.
 *
 * @param isThere true if the server has answered before
 * @returns the result of a read; undefined if the server was away
 * @throws CliFailure for any other refusal, and if the server stays away
 */
function createPatientLook<T>(
  look: () => Promise<T>,
  isThere = false,
): () => Promise<T | undefined> {
  let hasSeen = isThere;
  let misses = 0;
  return async () => {
    try {
      const found = await look();
      hasSeen = true;
      misses = 0;
      return found;
    } catch (error) {
      misses += 1;
      if (!hasSeen || misses > MOST_MISSES || !isUnavailable(error)) throw error;
      return undefined;
    }
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CliFailure && error.exitCode === EXIT.unavailable;
}

const LOOK_EVERY_MS = 1_000;

/** Yields the run's state after each change. @throws CliFailure */
export async function* watchStates(
  api: ApiClient,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<OperatorRunDetail, void> {
  const look = createPatientLook(() => api.get<OperatorRunDetail>(runPath(runId), { signal }));
  let before: string | undefined;
  while (signal?.aborted !== true) {
    const run = await look();
    const now = run && JSON.stringify(run);
    if (run !== undefined && now !== before) yield run;
    if (run !== undefined && isTerminal(run.status)) return;
    before = now ?? before;
    await sleep(LOOK_EVERY_MS, signal);
  }
}

/** Prints the news of a run until it ends, and sets its exit code. */
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
