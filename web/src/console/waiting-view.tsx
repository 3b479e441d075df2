import { useQuery } from '@tanstack/react-query';
import { Suspense, useCallback, useEffect, useState, type ReactElement } from 'react';
import type { OperatorWaiting } from '../../../protocol/operator.js';
import type { PageConfig } from '../api-client.js';
import { read } from './console-api.js';
import { lazyView } from './lazy-view.js';
import { Link } from './link.js';
import { PageButtons } from './page-buttons.js';
import { formatPlace, type Place } from './place.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { usePages } from './use-pages.js';
import { useSettings } from './use-place.js';
import { findChoices, WaitingChoice } from './waiting-choice.js';

const PAGE = 20;
const loadCard = () => import('./waiting-session-card.js');
const WaitingSessionCard = lazyView(async () => (await loadCard()).WaitingSessionCard);

/** Everything that waits for a person in the tenant, longest wait first. */
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
  // The forms come beside the questions, not after them. If they do not, the card says so.
  useEffect(() => void loadCard().catch(() => undefined), []);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  const noteTouched = useCallback((key: string, isTouched: boolean): void => {
    const toggle = (keys: ReadonlySet<string>): ReadonlySet<string> => {
      if (keys.has(key) === isTouched) return keys;
      return new Set(isTouched ? [...keys, key] : [...keys].filter((each) => each !== key));
    };
    setChanged(toggle);
    // It is not chosen again without a click.
    if (isTouched) setChosen((keys) => new Set([...keys].filter((each) => each !== key)));
  }, []);
  const onlyMine = settings['show'] === 'mine';
  const found = waiting.data?.sessions ?? [];
  const sessions = found.filter(
    ({ pending }) => !onlyMine || pending.some(({ mayDecide }) => mayDecide),
  );
  const choices = findChoices(sessions, changed);

  return (
    <>
      {waiting.error !== null && (
        <ProblemNote
          error={waiting.error}
          what={item === undefined ? 'What waits' : 'This conversation'}
        />
      )}
      <div className="filters">
        <label>
          Show
          <select
            data-testid="show"
            value={onlyMine ? 'mine' : ''}
            onChange={(event) => {
              change({ show: event.target.value });
            }}
          >
            <option value="">everything that waits</option>
            <option value="mine">what I may decide</option>
          </select>
        </label>
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
      <WaitingChoice choices={choices} chosen={chosen} onChoose={setChosen} />
      <Suspense fallback={<p role="status">Loading…</p>}>
        <ul className="cards">
          {sessions.map((session) => (
            <WaitingSessionCard
              key={session.sessionId}
              session={session}
              roles={config.roles}
              chosen={chosen}
              onChoose={choices.length > 1 ? setChosen : undefined}
              onTouched={noteTouched}
            />
          ))}
        </ul>
      </Suspense>
      <PageButtons pages={pages} next={waiting.data?.cursor} />
    </>
  );
}
