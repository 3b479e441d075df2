import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { OperatorWaitingSession } from '../../../protocol/operator.js';
import { mayAs, type PageConfig } from '../api-client.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { HiddenNote } from '../question-notes.js';
import { act } from './console-api.js';
import { withKeys } from './pages.js';
import { formatPlace } from './place.js';
import { Link } from './use-place.js';
import { isChoosable, keyOf } from './waiting-choice.js';
import { WaitingQuestion, type Answer } from './waiting-question.js';

interface Props {
  session: OperatorWaitingSession;
  roles: PageConfig['roles'];
  chosen: ReadonlySet<string>;
  /** Absent if fewer than two calls can be chosen. */
  onChoose: ((chosen: ReadonlySet<string>) => void) | undefined;
  /** Called when the form of a call becomes edited or pristine. */
  onTouched: (key: string, isTouched: boolean) => void;
}

/** Shows a waiting conversation: its owner, since when it waits, and its questions. */
export function WaitingSessionCard(props: Props): ReactElement {
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
