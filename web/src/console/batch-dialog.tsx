import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type {
  OperatorBatch,
  OperatorBatchBody,
  OperatorBatchPlan,
} from '../../../protocol/batch.js';
import { toWords } from '../../../protocol/to-words.js';
import { BatchProgress } from './batch-progress.js';
import { BATCH_WORDS, describePlan } from './batch-words.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { act as send, isPlan } from './console-api.js';
import { ProblemNote } from './problem-note.js';

const SHOWN = 20;

interface Props {
  act: OperatorBatchBody['act'];
  of:
    | { filter: Record<string, string> }
    | { targets: { runId: string; toolCallId?: string; inputHash?: string }[] };
  onClose: () => void;
}

/** One act on many runs or calls: what it would be, whether it shall be, and how far it is. */
export function BatchDialog({ act, of, onClose }: Props): ReactElement {
  const [batch, setBatch] = useState<OperatorBatch>();
  // What was asked for when the dialog opened is what is confirmed.
  const [asked] = useState({ act, ...of });
  // A reply that was lost begins nothing twice.
  const [key] = useState(() => crypto.randomUUID());
  const plan = useQuery({
    queryKey: ['plan', asked],
    queryFn: () =>
      send<OperatorBatch | OperatorBatchPlan>('/operator/batches', { ...asked, dryRun: true }),
    refetchOnWindowFocus: false,
    placeholderData: undefined,
    gcTime: 0,
  });
  const planned = plan.data !== undefined && isPlan(plan.data) ? plan.data : undefined;
  const { title, verb, caution } = BATCH_WORDS[act];

  if (batch !== undefined) {
    return <BatchProgress first={batch} planned={planned?.total ?? 0} onClose={onClose} />;
  }
  return (
    <ConfirmDialog
      title={title}
      verb={planned === undefined ? verb : `${verb} ${String(planned.total)}`}
      ready={planned !== undefined && planned.total > 0}
      needsReason={act === 'deny'}
      stays
      onConfirm={async (reason) => {
        const begun = await send<OperatorBatch | OperatorBatchPlan>(
          '/operator/batches',
          { ...asked, ...(reason !== undefined && { reason }) },
          key,
        );
        if (isPlan(begun)) throw new Error('Nothing is left to do.');
        setBatch(begun);
      }}
      onClose={onClose}
    >
      {plan.isPending && <p role="status">Counting…</p>}
      {plan.error !== null && <ProblemNote error={plan.error} what="The list" />}
      {planned !== undefined && (
        <div data-testid="plan">
          <p>{describePlan(act, planned)}</p>
          {caution !== undefined && <p>{caution}</p>}
          <ul className="plain-list">
            {planned.targets
              .slice(0, SHOWN)
              .map(({ runId, toolCallId, toolName, owner, agent }) => (
                <li key={`${runId} ${toolCallId ?? ''}`}>
                  {toolName === undefined ? runId : `${toWords(toolName)}, ${runId}`} – {agent},{' '}
                  {owner}
                </li>
              ))}
          </ul>
          {planned.total > SHOWN && <p>… and {planned.total - SHOWN} more.</p>}
        </div>
      )}
    </ConfirmDialog>
  );
}
