import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { describeFault, describeRequest } from '../../../protocol/operator-clients.js';
import type { AuditEntryReply, AuditReply, AuditVerdictReply } from '../../../protocol/audit.js';
import { Choice } from '../choice.js';
import { formatWhen } from '../format-when.js';
import { read } from './console-api.js';
import { PageButtons, Rows, usePages } from './pages.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { formatPlace, Link } from './use-place.js';

const PAGE = 20;

/** Lists the recorded acts with actor and channel, for operators. */
export function AuditTrail(): ReactElement {
  const [action, setAction] = useState('');
  const pages = usePages(action);
  const trail = useQuery({
    queryKey: ['audit', action, pages.cursor],
    queryFn: ({ signal }) =>
      read<AuditReply>('/operator/audit', {
        query: { limit: PAGE, action, cursor: pages.cursor },
        signal,
      }),
    refetchInterval: REFRESH_MS.usual,
  });
  const entries = trail.data?.entries ?? [];
  return (
    <section aria-labelledby="audit" data-testid="audit">
      <h2 id="audit">Audit trail</h2>
      <div className="filters">
        <Choice
          label="Show"
          testId="audit-action"
          value={action}
          options={[['', 'every act'], ...Object.entries(AUDIT_WORDS)]}
          onChoose={setAction}
        />
        <AuditCheck />
      </div>
      <ProblemNote error={trail.error} what="The audit trail" />
      {trail.data?.requests?.map((request) => (
        <p key={`${request.action} ${request.subject} ${request.by}`}>{describeRequest(request)}</p>
      ))}
      {trail.data !== undefined && entries.length === 0 && <p>There are no such entries.</p>}
      {entries.length > 0 && (
        <Rows caption="Acts, newest first" columns={['When', 'Who', 'Act', 'On', 'Outcome']}>
          <tbody>
            {entries.map((entry) => (
              <tr key={entry.n} data-testid="audit-entry" data-action={entry.action}>
                <td data-label="When">
                  <time dateTime={new Date(entry.at).toISOString()}>{formatWhen(entry.at)}</time>
                </td>
                <td data-label="Who">
                  {whoOf(entry)} <span className="soft">({entry.via})</span>
                </td>
                <td data-label="Act">{AUDIT_WORDS[entry.action]}</td>
                <td data-label="On">
                  <Target target={entry.target} />
                </td>
                <td data-label="Outcome">{entry.outcome}</td>
              </tr>
            ))}
          </tbody>
        </Rows>
      )}
      <PageButtons pages={pages} list={trail} />
    </section>
  );
}

/** An erased person has only a pseudonym. It is shown in full if two operators can still unseal the name. */
function whoOf({ name, actor, isSealed }: AuditEntryReply): string {
  if (name !== undefined) return name;
  if (isSealed) return `a person who was erased (sealed: ${actor})`;
  return actor === 'rule' ? 'a rule' : `a person who was erased (${actor.slice(0, 8)})`;
}

function Target({ target }: Pick<AuditEntryReply, 'target'>): ReactElement {
  const { sessionId, runId, toolName, person } = target;
  if (runId !== undefined) {
    return <Link href={formatPlace({ view: 'runs', item: runId })}>{toolName ?? 'a run'}</Link>;
  }
  return <>{toolName ?? sessionId ?? person ?? '–'}</>;
}

/** Verifies the trail's hash chain on request, because that reads the whole chain. */
function AuditCheck(): ReactElement {
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
        onClick={() => void check.refetch()}
      >
        Check the chain
      </button>
      <ProblemNote error={check.error} what="The audit trail" />
      {check.data !== undefined && (
        <span role="status" data-testid="audit-verdict">
          {describeVerdict(check.data)}
        </span>
      )}
    </>
  );
}

function describeVerdict({ ok, entries, fault }: AuditVerdictReply): string {
  if (ok) return `All ${String(entries)} entries are as they were written.`;
  return fault === undefined ? 'The chain is broken.' : describeFault(fault);
}

const AUDIT_WORDS: Record<AuditEntryReply['action'], string> = {
  approve: 'Approved',
  deny: 'Denied',
  result: 'Gave a result',
  error: 'Gave an error',
  expire: 'Ran out of time',
  extend: 'Gave more time',
  stop: 'Stopped',
  resume: 'Continued',
  retry: 'Repeated',
  branch: 'Copied',
  erase: 'Asked for erasure',
  erased: 'Erased',
  read: 'Read',
  export: 'Exported',
  forget: 'Forgot a person',
  pause: 'Paused an agent',
  unpause: 'Resumed an agent',
  schedule: 'Changed a schedule',
  notify: 'Sent a notice',
  edit: 'Edited what waits, or removed a file',
  open: 'Opened a sealed name',
};
