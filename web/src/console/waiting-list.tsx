import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useCallback, useState, type ReactElement } from 'react';
import type { OperatorQuestion, OperatorWaitingSession } from '../../../protocol/operator.js';
import { type PageConfig, mayAs } from '../api-client.js';
import { withKeys } from './pages.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { HiddenNote } from '../question-notes.js';
import { act } from './console-api.js';
import { lazyView } from './lazy-view.js';
import type { Target } from './many-dialog.js';
import { formatPlace, Link } from './use-place.js';
import { WaitingQuestion, type Answer } from './waiting-question.js';

const ManyDialog = lazyView(async () => (await import('./many-dialog.js')).ManyDialog);

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
            callKey={key}
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

type Call = Pick<OperatorQuestion, 'toolCallId' | 'inputHash'> & { runId: string };

export const keyOf = ({ runId, toolCallId, inputHash }: Call): string =>
  `${runId} ${toolCallId} ${inputHash}`;

/** Client tools' answers differ too much to be given together. Pure. */
function isChoosable({ kind, mayDecide }: OperatorQuestion): boolean {
  return kind === 'approval' && mayDecide;
}

/** Edited calls are left out: a common decision takes each input as the agent asked for it. Pure. */
export function findChoices(
  sessions: readonly OperatorWaitingSession[],
  changed: ReadonlySet<string>,
): (Target & Call)[] {
  return sessions
    .flatMap(({ run: { runId }, sessionId, agent, owner, pending }) =>
      pending.filter(isChoosable).map(({ toolCallId, toolName, approvalId, inputHash }) => {
        const shown = { toolCallId, toolName, approvalId, inputHash };
        return { ...shown, runId, sessionId, agent, owner };
      }),
    )
    .filter((choice) => !changed.has(keyOf(choice)));
}

interface ChoiceProps {
  choices: readonly (Target & Call)[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

/** Decides several calls of the page together. Its dialog stays open when few or none are left. */
function WaitingChoice({ choices, chosen, onChoose }: ChoiceProps): ReactElement {
  const [act, setAct] = useState<'approve' | 'deny'>();
  // Calls that were answered meanwhile drop out.
  const targets = choices.filter((choice) => chosen.has(keyOf(choice)));
  const areAll = targets.length === choices.length;
  return (
    <>
      {choices.length > 1 && (
        <div className="acts" role="group" aria-label="Decide several together">
          <label>
            <input
              type="checkbox"
              data-testid="choose-page"
              checked={areAll}
              onChange={() => onChoose(new Set(areAll ? [] : choices.map(keyOf)))}
            />{' '}
            All on this page
          </label>
          <span data-testid="chosen">{targets.length} chosen</span>
          {(['approve', 'deny'] as const).map((name) => (
            <button
              key={name}
              type="button"
              data-testid={`${name}-chosen`}
              disabled={targets.length === 0}
              onClick={() => setAct(name)}
            >
              {name === 'approve' ? 'Approve them' : 'Deny them'}
            </button>
          ))}
        </div>
      )}
      {act !== undefined && (
        <Suspense>
          <ManyDialog
            act={act}
            of={{ targets }}
            onClose={() => {
              setAct(undefined);
              onChoose(new Set());
            }}
          />
        </Suspense>
      )}
    </>
  );
}
