import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { AuditVerdictReply } from '../../../protocol/audit.js';
import { describeFault } from '../../../protocol/audit-fault.js';
import { read } from './console-api.js';
import { ProblemNote } from './problem-note.js';

/** Whether the trail is as it was written: its whole chain is read, so a person asks for it. */
export function AuditCheck(): ReactElement {
  const check = useQuery({
    queryKey: ['audit-check'],
    queryFn: ({ signal }) => read<AuditVerdictReply>('/operator/audit/verify', { signal }),
    enabled: false,
  });
  return (
    <>
      <button
        type="button"
        data-testid="check-audit"
        disabled={check.isFetching}
        onClick={() => {
          void check.refetch();
        }}
      >
        Check the chain
      </button>
      {check.error !== null && <ProblemNote error={check.error} what="The audit trail" />}
      {check.data !== undefined && (
        <span role="status" data-testid="audit-verdict">
          {describeVerdict(check.data)}
        </span>
      )}
    </>
  );
}

/** Pure. */
export function describeVerdict({ ok, entries, fault }: AuditVerdictReply): string {
  if (ok) return `All ${String(entries)} entries are as they were written.`;
  if (fault === undefined) return 'The chain is broken.';
  return describeFault(fault);
}
