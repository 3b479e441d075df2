import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorBatch, OperatorBatchPlan } from '../../../protocol/batch.js';
import { BatchProgress } from './batch-progress.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { act as send, isPlan } from './console-api.js';
import { ProblemNote } from './problem-note.js';

const SHOWN = 20;

interface Props {
  act: 'stop' | 'retry';
  of: { filter: Record<string, string> } | { targets: { runId: string }[] };
  onClose: () => void;
}

/** One act on many runs: what it would be, whether it shall be, and how far it is. */
export function BatchDialog({ act, of, onClose }: Props): ReactElement {
  const [batch, setBatch] = useState<OperatorBatch>();
  // What was asked for when the dialog opened is what is confirmed.
  const [asked] = useState({ act, ...of });
  const plan = useQuery({
    queryKey: ['plan', asked],
    queryFn: () =>
      send<OperatorBatch | OperatorBatchPlan>('/operator/batches', { ...asked, dryRun: true }),
    refetchOnWindowFocus: false,
    placeholderData: undefined,
    gcTime: 0,
  });
  const planned = plan.data !== undefined && isPlan(plan.data) ? plan.data : undefined;
  const verb = act === 'stop' ? 'Stop' : 'Repeat';

  if (batch !== undefined) return <BatchProgress first={batch} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={act === 'stop' ? 'Stop these runs?' : 'Repeat the turns of these runs?'}
      verb={planned === undefined ? verb : `${verb} ${String(planned.total)}`}
      ready={planned !== undefined && planned.total > 0}
      stays
      onConfirm={async (reason) => {
        const begun = await send<OperatorBatch | OperatorBatchPlan>('/operator/batches', {
          ...asked,
          ...(reason !== undefined && { reason }),
        });
        if (isPlan(begun)) throw new Error('Nothing is left to do.');
        setBatch(begun);
      }}
      onClose={onClose}
    >
      {plan.isPending && <p role="status">Counting…</p>}
      {plan.error !== null && <ProblemNote error={plan.error} what="The list" />}
      {planned !== undefined && (
        <div data-testid="plan">
          <p>
            {planned.total === 0
              ? 'There is nothing to do: the runs have other statuses by now.'
              : `This is about ${String(planned.total)} ${planned.total === 1 ? 'run' : 'runs'}.`}
            {planned.problems.length > 0 &&
              ` ${String(planned.problems.length)} that match are not yours to act on.`}
          </p>
          {act === 'retry' && <p>Their tools may run again, with what they do outside.</p>}
          <ul className="plain-list">
            {planned.targets.slice(0, SHOWN).map(({ runId, owner, agent }) => (
              <li key={runId}>
                {runId} – {agent}, {owner}
              </li>
            ))}
          </ul>
          {planned.total > SHOWN && <p>… and {planned.total - SHOWN} more.</p>}
        </div>
      )}
    </ConfirmDialog>
  );
}
