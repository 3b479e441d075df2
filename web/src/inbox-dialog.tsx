import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { formatWhen } from './format-when.js';
import { InboxQuestion } from './inbox-question.js';
import { createInbox, type InboxDecision, type WaitingSession } from './inbox.js';

interface Props {
  onClose: () => void;
  /** Shows a conversation. */
  onOpen: (sessionId: string) => void;
}

/** Everything that waits for a person, in all conversations; approvals are answered on the spot. */
export function InboxDialog({ onClose, onOpen }: Props): ReactElement {
  const inbox = useMemo(() => createInbox(), []);
  const dialog = useRef<HTMLDialogElement>(null);
  const [sessions, setSessions] = useState<WaitingSession[]>();
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

  const decide = async (
    sessionId: string,
    callId: string,
    decision: InboxDecision,
  ): Promise<void> => {
    setFault(undefined);
    try {
      await inbox.decide(sessionId, callId, decision);
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The answer was not taken.');
    }
    await load();
  };

  return (
    <dialog ref={dialog} className="inbox" aria-labelledby="inbox" onClose={onClose}>
      <h2 id="inbox">What waits for you</h2>
      {fault !== undefined && <p role="alert">{fault}</p>}
      {sessions?.length === 0 && <p data-testid="inbox-empty">Nothing does.</p>}
      <ul>
        {sessions?.map(({ sessionId, agent, since, pending }) => (
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
                {agent}, since {formatWhen(since)}
              </button>
            </div>
            {pending.map((question) => (
              <InboxQuestion
                key={question.toolCallId}
                question={question}
                onOpen={() => {
                  onClose();
                  onOpen(sessionId);
                }}
                onDecide={(decision) => void decide(sessionId, question.toolCallId, decision)}
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
