import { useCallback, useState, type ReactElement } from 'react';
import type { AnswerBody } from '../../protocol/http.js';
import type { PendingQuestion, WaitingSession } from '../../protocol/replies.js';
import { toWords } from '../../protocol/shown-call.js';
import { AnswerForm } from './answer-form.js';
import { pageFetch, readFirst, type Fetch, type PageConfig } from './api-client.js';
import { ApprovalForm } from './approval-form.js';
import { formatWhen } from './format-when.js';
import { describeFault, LoadFault, useLoaded, useSending } from './load-fault.js';
import { Modal } from './modal.js';
import { HiddenNote } from './question-notes.js';
import { answerCall, type AskedCall } from './session-controls.js';
import { titleOfAgent } from './tool-names.js';

interface Props {
  cards: PageConfig['cards'];
  onClose: () => void;
  onOpen: (sessionId: string) => void;
}

/** Lists the open questions of all conversations; people answer them here. */
export function InboxDialog({ cards, onClose, onOpen }: Props): ReactElement {
  const [pages, setPages] = useState(1);
  const { busy, error: refused, send } = useSending();
  const read = useCallback(() => loadWaiting(pages), [pages]);
  const { found: waiting, fault: unread, load } = useLoaded(read, 'The inbox');

  // The run continues without a page that shows it.
  const answer = async (sessionId: string, call: AskedCall, body: AnswerBody): Promise<void> => {
    try {
      await answerCall(pageFetch, sessionId, call, body);
    } finally {
      await load();
    }
  };

  return (
    <Modal className="inbox" title="What waits for you" hasClose onClose={onClose}>
      {refused && (
        <LoadFault text={describeFault(refused, 'The answer was not taken: the server')} />
      )}
      {unread !== undefined && <LoadFault text={unread} onAgain={() => void load()} />}
      {waiting === undefined && unread === undefined && <p role="status">Loading…</p>}
      {waiting?.sessions.length === 0 && <p data-testid="inbox-empty">Nothing does.</p>}
      <ul>
        {waiting?.sessions.map(({ sessionId, title, agent, since, pending, hiddenMessages }) => (
          <li key={sessionId} data-testid="inbox-session" data-session={sessionId}>
            <div className="inbox-from">
              <button
                type="button"
                className="plain"
                data-testid="inbox-open"
                onClick={() => {
                  onClose();
                  onOpen(sessionId);
                }}
              >
                {title === '' ? 'Untitled' : title}
              </button>
              <small>
                {titleOfAgent(cards, agent)}, since {formatWhen(since)}
              </small>
            </div>
            <HiddenNote messages={hiddenMessages} />
            {pending.map((question) => (
              <InboxQuestion
                key={`${question.approvalId} ${question.inputHash}`}
                question={question}
                disabled={busy}
                onAnswer={(body) => void send(answer(sessionId, question, body))}
              />
            ))}
          </li>
        ))}
      </ul>
      {waiting?.hasMore === true && (
        <button type="button" data-testid="inbox-more" onClick={() => setPages(pages + 1)}>
          More questions
        </button>
      )}
    </Modal>
  );
}

interface QuestionProps {
  question: PendingQuestion;
  disabled: boolean;
  onAnswer: (answer: AnswerBody) => void;
}

function InboxQuestion({ question, disabled, onAnswer }: QuestionProps): ReactElement {
  const { toolCallId, toolName, kind, input, deadline, description } = question;
  const title = question.title ?? toWords(toolName);
  return (
    <div
      role="group"
      className="inbox-question"
      aria-label={title}
      data-testid="inbox-question"
      data-call={toolCallId}
    >
      <div className="inbox-line">
        <strong>{title}</strong>
        <span className="deadline" data-testid="inbox-deadline">
          {describeDeadline(deadline)}
        </span>
      </div>
      {description !== undefined && <p className="about-call">{description}</p>}
      {kind === 'approval' ? (
        <ApprovalForm question={question} title={title} disabled={disabled} onAnswer={onAnswer} />
      ) : (
        <AnswerForm
          toolName={toolName}
          title={title}
          disabled={disabled}
          onAnswer={onAnswer}
          input={input}
          schema={question.schema}
        />
      )}
    </div>
  );
}

/** Formats a question's deadline as text without a countdown. Pure. */
function describeDeadline(deadline: number | undefined, now = Date.now()): string {
  if (deadline === undefined) return 'waits until it is answered';
  return deadline <= now ? 'The time is over.' : `until ${formatWhen(deadline, now)}`;
}

const PAGE = 50;

/** Loads the first pages of the conversations that wait for people, longest wait first. */
export async function loadWaiting(
  pages = 1,
  send?: Fetch,
): Promise<{ sessions: WaitingSession[]; hasMore: boolean }> {
  const list = { url: '/api/sessions', name: 'sessions', query: {} };
  const { entries, hasMore } = await readFirst<WaitingSession>([pages, PAGE], list, send);
  return { sessions: entries, hasMore };
}
