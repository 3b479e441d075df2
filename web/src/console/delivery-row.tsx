import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorDelivery } from '../../../protocol/deliveries.js';
import type { PageConfig } from '../api-client.js';
import { formatWhen } from '../format-when.js';
import { act, read } from './console-api.js';
import { Link } from './link.js';
import { formatPlace } from './place.js';
import { ProblemNote } from './problem-note.js';
import { mayAs } from './roles.js';

interface Props {
  delivery: OperatorDelivery;
  roles: PageConfig['roles'];
}

/** One notice to one receiver: what it is about, why it was not taken, and the way to send it again. */
export function DeliveryRow({ delivery, roles }: Props): ReactElement {
  const { id, receiver, type, status, runId, toolName, startedAt } = delivery;
  const [isAsked, setAsked] = useState(false);
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<Error>();
  const path = `/operator/deliveries/${encodeURIComponent(id)}`;
  const why = useQuery({
    queryKey: ['delivery', id, startedAt],
    queryFn: ({ signal }) => read<OperatorDelivery>(path, { signal }),
    enabled: isAsked,
  });

  const fault = error ?? why.error;

  const redeliver = async (): Promise<void> => {
    setSent(true);
    setError(undefined);
    try {
      await act(`${path}/redeliver`);
    } catch (refusal) {
      setSent(false);
      setError(refusal instanceof Error ? refusal : new Error(String(refusal)));
    }
  };

  return (
    <tr data-testid="delivery" data-id={id}>
      <td data-label="Receiver">{receiver}</td>
      <td data-label="Notice">{type}</td>
      <td data-label="About">
        {runId === undefined ? (
          '–'
        ) : (
          <Link href={formatPlace({ view: 'runs', item: runId })}>{toolName ?? 'the run'}</Link>
        )}
      </td>
      <td data-label="Since">
        <time dateTime={new Date(startedAt).toISOString()}>{formatWhen(startedAt)}</time>
      </td>
      <td data-label="Outcome">
        {status === 'delivered' && 'taken'}
        {status !== 'delivered' && !isAsked && (
          <button
            type="button"
            className="plain"
            data-testid="why-not-taken"
            onClick={() => {
              setAsked(true);
            }}
          >
            Why?
          </button>
        )}
        {why.data !== undefined && (
          <span data-testid="delivery-problem">
            {why.data.problem ?? 'It is on its way.'}
            {why.data.attempts !== undefined && ` Attempt ${String(why.data.attempts)}.`}
          </span>
        )}{' '}
        {status === 'failed' && mayAs(roles, 'operator') && (
          <button
            type="button"
            data-testid="redeliver"
            disabled={isSent}
            onClick={() => {
              void redeliver();
            }}
          >
            {isSent ? 'Sent again' : 'Send again'}
          </button>
        )}
        {fault !== null && <ProblemNote error={fault} what="This delivery" />}
      </td>
    </tr>
  );
}
