import { useCallback, useState, type ReactElement } from 'react';
import type { OperatorWaitingSession } from '../../../protocol/operator.js';
import type { PageConfig } from '../api-client.js';
import { withKeys } from './pages.js';
import { findChoices, WaitingChoice } from './waiting-choice.js';
import { WaitingSessionCard } from './waiting-session-card.js';

interface Props {
  sessions: readonly OperatorWaitingSession[];
  roles: PageConfig['roles'];
}

/** Lists a page of questions with acts on several of them. Only questions on the page can be chosen. */
export function WaitingList({ sessions, roles }: Props): ReactElement {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  const noteTouched = useCallback((key: string, isTouched: boolean): void => {
    setChanged((keys) => withKeys(keys, [key], isTouched));
    // An edited call leaves the choice; only a click puts it back.
    if (isTouched) setChosen((keys) => withKeys(keys, [key], false));
  }, []);
  const choices = findChoices(sessions, changed);
  return (
    <>
      <WaitingChoice choices={choices} chosen={chosen} onChoose={setChosen} />
      <ul className="cards">
        {sessions.map((session) => (
          <WaitingSessionCard
            key={session.sessionId}
            session={session}
            roles={roles}
            chosen={chosen}
            onChoose={choices.length > 1 ? setChosen : undefined}
            onTouched={noteTouched}
          />
        ))}
      </ul>
    </>
  );
}
