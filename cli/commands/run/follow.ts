import type { OperatorCall, OperatorRunDetail } from '../../../protocol/operator.js';
import { isTerminal, type RunStatus } from '../../../protocol/run.js';
import { sleep } from '../../../protocol/time.js';
import type { ApiClient } from '../../api/client.js';
import { CliFailure, EXIT, type ExitCode } from '../../failure.js';
import { shownText } from '../../output/shown-text.js';
import type { Terminal } from '../../terminal.js';
import type { Work } from '../api-command.js';
import { runPath } from './run-list.js';

/** After one success, this many consecutive reads may fail, so that a server restart is survived. */
const MAX_MISSES = 5;
const LOOK_EVERY_MS = 1_000;

/** Yields the run's state after each change. @throws CliFailure if the server refuses or stays away */
export async function* watchStates(
  api: ApiClient,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<OperatorRunDetail, void> {
  let before: string | undefined;
  let misses = 0;
  while (signal?.aborted !== true) {
    try {
      const run = await api.get<OperatorRunDetail>(runPath(runId), { signal });
      misses = 0;
      const now = JSON.stringify(run);
      if (now !== before) yield run;
      if (isTerminal(run.status)) return;
      before = now;
    } catch (error) {
      misses += 1;
      const isAway = error instanceof CliFailure && error.exitCode === EXIT.unavailable;
      if (!isAway || before === undefined || misses > MAX_MISSES) throw error;
    }
    await sleep(LOOK_EVERY_MS, signal);
  }
}

/** Prints the news of a run until it ends, and sets its exit code. */
export async function followRun({ cli, api, output }: Work, runId: string): Promise<void> {
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

const SIGNS = {
  open: ['cyan', '…'],
  waiting: ['yellow', '?'],
  done: ['green', '✓'],
  failed: ['red', '✗'],
  denied: ['dim', '–'],
} as const;

/** Formats a run as lines: steps with their calls, then the status. Later calls only append lines. */
export function toStepLines(run: OperatorRunDetail, terminal: Pick<Terminal, 'style'>): string[] {
  const { steps, status, error } = run;
  const reason = error === undefined ? '' : `: ${shownText(`${error.message} (${error.code})`)}`;
  return [
    ...steps.flatMap(({ step, calls }) => [
      `step ${String(step)}`,
      ...calls.map((call) => toCallLine(call, terminal)),
    ]),
    `${terminal.style('bold', status)}${reason}`,
  ];
}

function toCallLine(call: OperatorCall, terminal: Pick<Terminal, 'style'>): string {
  const { toolName, toolCallId, state, errorCode, decision } = call;
  const [style, sign] = SIGNS[state];
  const words = [
    shownText(toolName),
    terminal.style('dim', shownText(toolCallId)),
    state,
    ...(errorCode === undefined ? [] : [errorCode]),
    ...(decision === undefined ? [] : [toDecision(decision)]),
  ];
  return `  ${terminal.style(style, sign)} ${words.join(' ')}`;
}

function toDecision(decision: NonNullable<OperatorCall['decision']>): string {
  const { approved, by, reason, edited, automatic } = decision;
  return [
    ...(automatic === true ? ['automatically'] : []),
    approved ? 'approved' : 'denied',
    ...(edited === true ? ['with an edited input'] : []),
    ...(by === undefined ? [] : [`by ${shownText(by)}`]),
    ...(reason === undefined ? [] : [`(${shownText(reason)})`]),
  ].join(' ');
}
