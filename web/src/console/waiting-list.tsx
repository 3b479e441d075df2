import { useCallback, useState, type ReactElement } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { OperatorWaitingSession } from '../../../protocol/operator.js';
import { type PageConfig, mayAs } from '../api-client.js';
import { withKeys } from './pages.js';
import { findChoices, WaitingChoice, isChoosable, keyOf } from './waiting-choice.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { HiddenNote } from '../question-notes.js';
import { act } from './console-api.js';
import { formatPlace } from './place.js';
import { Link } from './use-place.js';
import { WaitingQuestion, type Answer } from './waiting-question.js';

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

interface CardProps {
  session: OperatorWaitingSession;
  roles: PageConfig['roles'];
  chosen: ReadonlySet<string>;
  /** Absent if fewer than two calls can be chosen. */
  onChoose: ((chosen: ReadonlySet<string>) => void) | undefined;
  /** Called when the form of a call becomes edited or pristine. */
  onTouched: (key: string, isTouched: boolean) => void;
}

/** Shows a waiting conversation: its owner, since when it waits, and its questions. */
function WaitingSessionCard(props: CardProps): ReactElement {
  const { session, roles, chosen, onChoose, onTouched } = props;
  const { sessionId, owner, agent, since, run, pending, hiddenMessages } = session;
  const queries = useQueryClient();
  const path = `/operator/waiting/${encodeURIComponent(sessionId)}`;
  const send = async (rest: string, body: object): Promise<void> => {
    try {
      await act(`${path}/${rest}`, body);
    } finally {
      await queries.invalidateQueries({ queryKey: ['waiting'] });
    }
  };
  return (
    <li className="card" data-testid="waiting-session" data-session={sessionId}>
      <header>
        <strong>{owner}</strong> asked <strong>{agent}</strong>
        <span className="soft">
          {' '}
          since {formatWhen(since)} ({formatSpan(Date.now() - since)})
        </span>
        <Link href={formatPlace({ view: 'runs', item: run.runId })}>Open the run</Link>
      </header>
      <HiddenNote messages={hiddenMessages} />
      {pending.map((question) => {
        const { toolCallId, approvalId, inputHash } = question;
        const key = keyOf({ runId: run.runId, toolCallId, inputHash });
        const callPath = encodeURIComponent(toolCallId);
        const isOffered = onChoose !== undefined && isChoosable(question);
        return (
          <WaitingQuestion
            // A new question under the same call id gets a new card with a fresh form.
            key={`${approvalId} ${inputHash}`}
            question={question}
            runId={run.runId}
            isChosen={isOffered ? chosen.has(key) : undefined}
            onChoose={(isOn) => {
              onChoose?.(withKeys(chosen, [key], isOn));
            }}
            onTouched={onTouched}
            mayExtend={mayAs(roles, 'approver')}
            onAnswer={(answer: Answer) => send(callPath, { ...answer, approvalId, inputHash })}
            onExtend={(byMs) => send(`${callPath}/extend`, { byMs, approvalId, inputHash })}
          />
        );
      })}
    </li>
  );
}
