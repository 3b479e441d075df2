import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type {
  OperatorDeliveries,
  OperatorDelivery,
  OperatorReceivers,
} from '../../../protocol/deliveries.js';
import type { PageConfig } from '../api-client.js';
import { read } from './console-api.js';
import { DeliveryRow } from './delivery-row.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';

const SHOWN = 50;
const STATUSES: readonly [OperatorDelivery['status'], string][] = [
  ['failed', 'that were not taken'],
  ['running', 'that are tried'],
  ['delivered', 'that were taken'],
];

/** Notices to receivers: those that were not taken first, since a person has to send them again. */
export function Deliveries({ roles }: { roles: PageConfig['roles'] }): ReactElement {
  const [status, setStatus] = useState<string>('failed');
  const receivers = useQuery({
    queryKey: ['receivers'],
    queryFn: ({ signal }) => read<OperatorReceivers>('/operator/receivers', { signal }),
    staleTime: REFRESH_MS.seldom,
  });
  const names = receivers.data?.receivers.map(({ name, kind }) => `${name} (${kind})`) ?? [];
  const deliveries = useQuery({
    queryKey: ['deliveries', status],
    queryFn: ({ signal }) =>
      read<OperatorDeliveries>('/operator/deliveries', { query: { status, limit: SHOWN }, signal }),
    refetchInterval: REFRESH_MS.usual,
    enabled: names.length > 0,
  });
  const found = deliveries.data?.deliveries ?? [];
  return (
    <section aria-labelledby="deliveries" data-testid="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      {receivers.error !== null && <ProblemNote error={receivers.error} what="The receivers" />}
      {receivers.data !== undefined && (
        <p className="soft">
          {names.length === 0
            ? 'No receivers are set, so no one is notified of what waits.'
            : `Receivers: ${names.join(', ')}.`}
        </p>
      )}
      {names.length > 0 && (
        <div className="filters">
          <label>
            Notices
            <select
              data-testid="delivery-status"
              value={status}
              onChange={(event) => {
                setStatus(event.target.value);
              }}
            >
              {STATUSES.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      {deliveries.error !== null && <ProblemNote error={deliveries.error} what="The list" />}
      {deliveries.data !== undefined && found.length === 0 && (
        <p data-testid="no-deliveries">No such notices.</p>
      )}
      {found.length > 0 && (
        <table className="rows">
          <caption className="hidden">Notices, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Receiver</th>
              <th scope="col">Notice</th>
              <th scope="col">About</th>
              <th scope="col">Since</th>
              <th scope="col">Outcome</th>
            </tr>
          </thead>
          <tbody>
            {found.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} roles={roles} />
            ))}
          </tbody>
        </table>
      )}
      {found.length === SHOWN && <p className="soft">The newest {SHOWN} are shown.</p>}
    </section>
  );
}
