import type { EvalCase } from './case.js';
import { keyOf, toCanonicalJson } from './recorded-calls.js';
import type { LaneResult } from './run-lane.js';

/** Kinds of differences between a lane and the recording. */
export const DIFFERENCES = [
  'drift',
  'status',
  'tools',
  'arguments',
  'steps',
  'output',
  'text',
] as const;
export type Difference = (typeof DIFFERENCES)[number];

export interface FoundDifference {
  in: Difference;
  /** Description for people: the recorded value and the new one. */
  text: string;
}

/** Compares a lane's run with the recording. Pure. */
export function compare(observed: EvalCase, { run, drift, error }: LaneResult): FoundDifference[] {
  const found: FoundDifference[] = [];
  const note = (what: Difference, before: string, now: string): void => {
    if (before !== now) found.push({ in: what, text: `${before} → ${now}` });
  };
  for (const { tool, input, what } of drift) {
    const call = `${tool}(${toCanonicalJson(input)})`;
    const text =
      what === 'call' ? `${call} was not recorded` : `people were not asked about ${call}`;
    found.push({ in: 'drift', text });
  }
  // After a drift the rest of the run is meaningless.
  if (drift.length > 0) {
    note('tools', toolsOf(observed), toolsOf(run));
    return found;
  }
  const status = error === undefined ? run.status : `${run.status} (${error.code})`;
  note('status', observed.status, status);
  note('tools', toolsOf(observed), toolsOf(run));
  if (toolsOf(observed) === toolsOf(run))
    note('arguments', argumentsOf(observed), argumentsOf(run));
  note('steps', String(stepsOf(observed)), String(stepsOf(run)));
  const [before, now] = [observed.turns.at(-1), run.turns.at(-1)];
  note('output', toCanonicalJson(before?.output), toCanonicalJson(now?.output));
  note('text', before?.text ?? '', now?.text ?? '');
  return found;
}

export function stepsOf({ turns }: EvalCase): number {
  return turns.reduce((sum, { steps }) => sum + steps, 0);
}

function toolsOf({ turns }: EvalCase): string {
  const tools = turns.flatMap(({ calls }) => calls.map(({ tool }) => tool));
  return tools.length === 0 ? 'no tools' : tools.join(', ');
}

function argumentsOf({ turns }: EvalCase): string {
  return turns
    .flatMap(({ calls }) => calls.map(({ tool, input }) => keyOf(tool, input)))
    .join(', ');
}
