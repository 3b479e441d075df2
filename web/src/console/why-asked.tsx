import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import type { OperatorStep } from '../../../protocol/timeline.js';
import { read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';

/** What the person asked for and what the agent wrote before it asked; read when it is opened. */
export function WhyAsked({ runId }: { runId: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const why = useQuery({
    queryKey: ['why', runId],
    enabled: isOpen,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { steps } = await read<OperatorRunDetail>(runPath(runId), { signal });
      const last = steps.at(-1)?.step ?? 1;
      return read<OperatorStep>(runPath(runId, `/steps/${String(last)}`), { signal });
    },
  });
  return (
    <details
      className="why"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary data-testid="why">Why it is asked</summary>
      {why.isLoading && <p role="status">Loading…</p>}
      {why.error !== null && <ProblemNote error={why.error} what="The run" />}
      {why.data !== undefined && (
        <div data-testid="why-text">
          <p className="quote">
            {why.data.prompt === '' ? 'No message is shown.' : why.data.prompt}
          </p>
          <p>{why.data.text === '' ? 'The agent wrote nothing before it asked.' : why.data.text}</p>
        </div>
      )}
    </details>
  );
}
