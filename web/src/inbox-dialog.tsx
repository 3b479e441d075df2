import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { AnswerBody } from '../../protocol/http.js';
import type { PageConfig } from './api-client.js';
import { formatWhen } from './format-when.js';
import { InboxQuestion } from './inbox-question.js';
import { createInbox, type WaitingSession } from './inbox.js';
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
  const dialog = useRef<HTMLDialogElement>(null);
  const [sessions, setSessions] = useState<WaitingSession[]>();
  const [sending, setSending] = useState(false);
  const [fault, setFault] = useState<string>();

  const load = useCallback(async () => {
    try {
      setSessions(await inbox.load());
    } catch {
      setFault('The inbox could not be read.');
    }
  }, [inbox]);
  useEffect(() => {
    dialog.current?.showModal();
    void load();
  }, [load]);

  const answer = async (sessionId: string, callId: string, body: AnswerBody): Promise<void> => {
    setFault(undefined);
    setSending(true);
    try {
      await inbox.answer(sessionId, callId, body);
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The answer was not taken.');
    }
    await load();
    setSending(false);
  };

  return (
    <dialog ref={dialog} className="inbox" aria-labelledby="inbox" onClose={onClose}>
      <h2 id="inbox">What waits for you</h2>
      {fault !== undefined && <p role="alert">{fault}</p>}
      {sessions?.length === 0 && <p data-testid="inbox-empty">Nothing does.</p>}
      <ul>
        {sessions?.map(({ sessionId, title, agent, since, pending }) => (
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
            {pending.map((question) => (
              <InboxQuestion
                key={question.toolCallId}
                question={question}
                disabled={sending}
                onAnswer={(body) => void answer(sessionId, question.toolCallId, body)}
              />
            ))}
          </li>
        ))}
      </ul>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
