import type { RunInfo } from '../contract/runs.js';

/**
 * Returns the row from which a run may have steps: one that was steered has some before its turn.
 *
 * @param all runs of its session, oldest first
 */
export function firstRowOf(run: RunInfo, all: readonly RunInfo[]): number {
  // The rows of a copy are those of other runs.
  if (run.mode === 'branch') return run.startRow;
  const before = all.slice(0, all.indexOf(run)).findLast(({ rewound }) => rewound !== true);
  return before?.startRow ?? 0;
}
