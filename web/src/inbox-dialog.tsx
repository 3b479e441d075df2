import { useCallback, useEffect, useMemo, useState, type ReactElement } from 'react';
import type { AnswerBody } from '../../protocol/http.js';
import type { PageConfig } from './api-client.js';
import { formatWhen } from './format-when.js';
import { InboxQuestion } from './inbox-question.js';
import { createInbox, type Waiting } from './inbox.js';
import { describeFault, LoadFault } from './load-fault.js';
import { Modal } from './modal.js';
import { HiddenNote } from './question-notes.js';
import type { AskedCall } from './session-actions.js';
import { titleOfAgent } from './tool-names.js';

interface Props {
  cards: PageConfig['cards'];
  onClose: () => void;
  /** Shows a conversation. */
  onOpen: (sessionId: string) => void;
}

/** Everything that waits for a person, in all conversations, answered on the spot. */
export function InboxDialog({ cards, onClose, onOpen }: Props): ReactElement {
  const inbox = useMemo(() => createInbox(), []);
  const [waiting, setWaiting] = useState<Waiting>();
  const [pages, setPages] = useState(1);
  const [sending, setSending] = useState(false);
  /** Why it could not be read, and why an answer was not taken. */
  const [unread, setUnread] = useState<string>();
  const [refused, setRefused] = useState<string>();

  const load = useCallback(async () => {
    try {
      setWaiting(await inbox.load(pages));
      setUnread(undefined);
    } catch (error) {
      setUnread(describeFault(error, 'The inbox'));
    }
  }, [inbox, pages]);
  useEffect(() => {
    void load();
  }, [load]);

  const answer = async (sessionId: string, call: AskedCall, body: AnswerBody): Promise<void> => {
    setRefused(undefined);
    setSending(true);
    try {
      await inbox.answer(sessionId, call, body);
    } catch (error) {
      setRefused(describeFault(error, 'The answer was not taken: the server'));
    }
    await load();
    setSending(false);
  };

  return (
    <Modal className="inbox" title="What waits for you" hasClose onClose={onClose}>
      {refused !== undefined && <LoadFault text={refused} />}
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
              <span>
                {titleOfAgent(cards, agent)}, since {formatWhen(since)}
              </span>
            </div>
            <HiddenNote messages={hiddenMessages} />
            {pending.map((question) => (
              <InboxQuestion
                key={`${question.approvalId} ${question.inputHash}`}
                question={question}
                disabled={sending}
                onAnswer={(body) => void answer(sessionId, question, body)}
              />
            ))}
          </li>
        ))}
      </ul>
      {waiting?.hasMore === true && (
        <button
          type="button"
          data-testid="inbox-more"
          onClick={() => {
            setPages(pages + 1);
          }}
        >
          More questions
        </button>
      )}
    </Modal>
  );
}
