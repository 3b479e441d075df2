import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, type ReactElement } from 'react';
import type { OperatorBatch } from '../../../protocol/batch.js';
import { describeProblemCode } from './batch-words.js';
import { endBatch, read } from './console-api.js';
import { ProblemNote } from './problem-note.js';

const EVERY_MS = 700;

/** How far a batch is; it continues when the dialog is closed. */
export function BatchProgress({
  first,
  planned,
  onClose,
}: {
  first: OperatorBatch;
  /** What it was to act on when it was confirmed. */
  planned: number;
  onClose: () => void;
}): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const queries = useQueryClient();
  const batch = useQuery({
    queryKey: ['batch', first.id],
    queryFn: ({ signal }) =>
      read<OperatorBatch>(`/operator/batches/${encodeURIComponent(first.id)}`, { signal }),
    initialData: first,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? EVERY_MS : false),
  });
  const { status, total, done, skipped, failed, problems } = batch.data;

  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    if (status === 'running') return;
    for (const list of ['runs', 'waiting']) void queries.invalidateQueries({ queryKey: [list] });
  }, [status, queries]);

  return (
    <dialog ref={dialog} className="confirm" aria-labelledby="batch-title" onClose={onClose}>
      <h2 id="batch-title">{status === 'running' ? 'Under way' : 'The batch is over'}</h2>
      <progress max={Math.max(total, 1)} value={done + skipped + failed} aria-label="Progress" />
      <p role="status" data-testid="batch" data-status={status}>
        {done} of {total} done, {skipped} skipped, {failed} failed.
        {planned > total && ` ${String(planned - total)} needed nothing any more when it began.`}
      </p>
      {problems.length > 0 && (
        <ul className="plain-list" data-testid="batch-problems">
          {problems.map(({ target, code }) => (
            <li key={target}>
              {target}: {describeProblemCode(code)}
            </li>
          ))}
        </ul>
      )}
      {batch.error !== null && <ProblemNote error={batch.error} what="The batch" />}
      <div className="acts">
        {status === 'running' && (
          <button
            type="button"
            data-testid="end-batch"
            onClick={() => {
              void endBatch(first.id).then(() => batch.refetch());
            }}
          >
            End it here
          </button>
        )}
        <button type="button" data-testid="close" onClick={onClose}>
          Close
        </button>
      </div>
    </dialog>
  );
}
