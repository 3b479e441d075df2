import type { ReactElement } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';

/**
 * The steps of a run after which a copy can continue, from 0, which is before the first. A completed run
 * has nothing left to do after its last one, and a step whose calls have no results yet cannot be
 * copied. Pure.
 */
export function forkPoints({
  steps,
  status,
}: Pick<OperatorRunDetail, 'steps' | 'status'>): number[] {
  const points = [{ step: 0, calls: [] }, ...steps];
  const ahead = status === 'completed' ? points.slice(0, -1) : points;
  return ahead.filter(hasResults).map(({ step }) => step);
}

function hasResults({ calls }: OperatorRunDetail['steps'][number]): boolean {
  return calls.every(
    ({ state, kind }) => kind === 'provider' || (state !== 'open' && state !== 'waiting'),
  );
}

interface Props {
  points: readonly number[];
  value: number;
  onChoose: (step: number) => void;
}

export function ForkChoice({ points, value, onChoose }: Props): ReactElement {
  return (
    <label>
      Continue after
      <select
        data-testid="fork-point"
        value={value}
        onChange={(event) => {
          onChoose(Number(event.target.value));
        }}
      >
        {points.map((step) => (
          <option key={step} value={step}>
            {step === 0 ? 'the message' : `step ${String(step)}`}
          </option>
        ))}
      </select>
    </label>
  );
}
