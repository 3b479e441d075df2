import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, type ReactElement } from 'react';
import type { OperatorWaiting } from '../../../protocol/operator.js';
import type { PageConfig } from '../api-client.js';
import { Choice } from '../choice.js';
import { read } from './console-api.js';
import { lazyView } from './lazy-view.js';
import { PageButtons, usePages } from './pages.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { formatPlace, Link, type Place, useSettings } from './use-place.js';

const PAGE = 20;
const loadList = () => import('./waiting-list.js');
const WaitingList = lazyView(async () => (await loadList()).WaitingList);

/** Lists the tenant's open questions, longest wait first. */
export function WaitingView({ place, config }: { place: Place; config: PageConfig }): ReactElement {
  const { item, settings } = place;
  const change = useSettings(place);
  const pages = usePages('waiting');
  const waiting = useQuery({
    queryKey: ['waiting', item, pages.cursor],
    queryFn: ({ signal }) =>
      read<OperatorWaiting>('/operator/waiting', {
        query: item === undefined ? { limit: PAGE, cursor: pages.cursor } : { session: item },
        signal,
      }),
    refetchInterval: REFRESH_MS.soon,
  });
  // Loads the forms' code in parallel with the questions. If that fails, the list says so.
  useEffect(() => void loadList().catch(() => undefined), []);
  const onlyMine = settings['show'] === 'mine';
  const found = waiting.data?.sessions ?? [];
  const sessions = found.filter(
    ({ pending }) => !onlyMine || pending.some(({ mayDecide }) => mayDecide),
  );

  return (
    <>
      <ProblemNote
        error={waiting.error}
        what={item === undefined ? 'What waits' : 'This conversation'}
      />
      <div className="filters">
        <Choice
          label="Show"
          testId="show"
          value={onlyMine ? 'mine' : ''}
          options={[
            ['', 'everything that waits'],
            ['mine', 'what I may decide'],
          ]}
          onChoose={(show) => change({ show })}
        />
        {item !== undefined && (
          <Link href={formatPlace({ view: 'waiting' })}>Show all conversations</Link>
        )}
      </div>
      {waiting.isPending && <p role="status">Loading…</p>}
      {waiting.data !== undefined && sessions.length === 0 && (
        <p data-testid="empty">
          {item === undefined
            ? onlyMine && found.length > 0
              ? 'Nothing here is yours to decide.'
              : 'Nothing waits for people.'
            : 'Nothing of this conversation waits any more.'}
        </p>
      )}
      {waiting.data !== undefined && (
        <Suspense fallback={sessions.length > 0 && <p role="status">Loading…</p>}>
          <WaitingList sessions={sessions} roles={config.roles} />
        </Suspense>
      )}
      <PageButtons pages={pages} list={waiting} />
    </>
  );
}
