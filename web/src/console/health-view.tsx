import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { HealthReply } from '../../../protocol/health.js';
import type { PageConfig } from '../api-client.js';
import { AgentPauses } from './agent-pauses.js';
import { AuditTrail } from './audit-trail.js';
import { read } from './console-api.js';
import { Deliveries } from './deliveries.js';
import { HealthPart } from './health-part.js';
import type { Place } from './place.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { mayAs } from './roles.js';
import { useSettings } from './use-place.js';

const PERIODS = [
  ['3600', 'the last hour'],
  ['21600', 'the last 6 hours'],
  ['86400', 'the last 24 hours'],
] as const;
const VERDICTS = {
  ok: 'All is well.',
  warn: 'Something wants a look today.',
  bad: 'People notice this now.',
} as const;
const PARTS = [
  ['flow', 'Work gets to workers'],
  ['execution', 'Models, tools and runs succeed'],
  ['liveness', 'Workers are alive'],
  ['people', 'Questions are answered'],
] as const;

interface Props {
  place: Place;
  roles: PageConfig['roles'];
}

/** How the service does, by fixed rules, with what to do about each finding. */
export function HealthView({ place, roles }: Props): ReactElement {
  const change = useSettings(place);
  const wanted = place.settings['period'];
  const period = PERIODS.find(([seconds]) => seconds === wanted)?.[0] ?? '3600';
  const health = useQuery({
    queryKey: ['health', period],
    queryFn: ({ signal }) => read<HealthReply>('/operator/health', { query: { period }, signal }),
    refetchInterval: REFRESH_MS.usual,
  });
  return (
    <>
      <div className="filters">
        <label>
          Over
          <select
            data-testid="period"
            value={period}
            onChange={(event) => {
              change({ period: event.target.value });
            }}
          >
            {PERIODS.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      {health.isPending && <p role="status">Loading…</p>}
      {health.error !== null && <ProblemNote error={health.error} what="The verdict" />}
      {health.data !== undefined && (
        <>
          <p className="verdict" data-state={health.data.verdict} data-testid="verdict">
            {VERDICTS[health.data.verdict]} <span data-testid="next">{health.data.next}</span>
          </p>
          <ul className="cards">
            {PARTS.map(([name, title]) => (
              <HealthPart key={name} name={name} title={title} part={health.data[name]} />
            ))}
          </ul>
        </>
      )}
      <AgentPauses roles={roles} />
      <Deliveries roles={roles} />
      {mayAs(roles, 'operator') && <AuditTrail />}
    </>
  );
}
