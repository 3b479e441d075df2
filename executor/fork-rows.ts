import { HelixError } from '../protocol/errors.js';
import type { Row } from '../protocol/rows.js';
import type { RunInfo } from '../stores/contract/runs.js';

/**
 * The rows up to and including a step of the turn that a run worked on, with the step's results. Step
 * 0 is the beginning of the turn. Pure.
 *
 * @param runs all runs of the session
 * @throws HelixError `not_found` for a run that the transcript no longer has, `checkpoint_not_found`
 * for a step that was not committed, `not_resumable` for one whose calls do not all have results yet,
 * `nothing_to_do` if the turn was complete with it
 */
export function rowsUpTo(
  rows: readonly Row[],
  runs: readonly RunInfo[],
  { runId, step }: { runId: string; step: number },
): readonly Row[] {
  const run = runs.find((each) => each.runId === runId && each.rewound !== true);
  if (run === undefined) throw new HelixError('not_found', 'There is no such run any more.');
  // A turn that was interrupted was continued by further runs.
  const ofTurn = runs.filter(({ turn, rewound }) => turn === run.turn && rewound !== true);
  const later = runs.filter(({ turn, rewound }) => turn > run.turn && rewound !== true);
  const end = Math.min(rows.length, ...later.map(({ startRow }) => startRow));
  const steps = rows.slice(0, end).flatMap((row, at) => {
    const isStep = row.role === 'assistant' && row.display !== true;
    return at >= run.startRow && isStep ? [{ at, step: row.step }] : [];
  });
  if (step === 0) return rows.slice(0, steps[0]?.at ?? end);
  const found = steps.findLast((each) => each.step === step);
  if (found === undefined) {
    throw new HelixError('checkpoint_not_found', 'This run has committed no such step.');
  }
  const isLast = steps.every((each) => each.at <= found.at);
  if (isLast && ofTurn.some(({ status }) => status === 'completed')) {
    throw new HelixError(
      'nothing_to_do',
      'The turn was complete with this step: name an earlier one.',
    );
  }
  const upTo = rows.slice(0, endOfStep(rows, found.at + 1));
  // A copy without this step would make its calls again, also those that are done.
  if (withoutOpenCalls(upTo).length < upTo.length) {
    throw new HelixError(
      'not_resumable',
      'Calls of this step have no results yet: name an earlier step.',
    );
  }
  return upTo;
}

/** Number of rows up to and including the results of a committed step. */
export function endOfStep(rows: readonly Row[], messageCount: number): number {
  let end = messageCount;
  for (;;) {
    const row = rows[end];
    const isResult = row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
    if (!isResult) return end;
    end += 1;
  }
}

/** The rows without a last step whose calls have no results yet. */
export function withoutOpenCalls(rows: readonly Row[]): readonly Row[] {
  const settled = new Set(rows.flatMap((row) => (row.role === 'tool' ? row.toolCallId : [])));
  const at = rows.findLastIndex(({ role }) => role === 'assistant');
  const last = rows[at];
  const isOpen =
    last?.role === 'assistant' &&
    last.parts.some(
      (part) =>
        part.type === 'tool-call' && part.kind !== 'provider' && !settled.has(part.toolCallId),
    );
  return isOpen ? withoutOpenCalls(rows.slice(0, at)) : rows;
}
