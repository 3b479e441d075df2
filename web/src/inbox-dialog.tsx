import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { FieldList } from './field-list.js';
import { createInbox, type WaitingSession } from './inbox.js';

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

  const decide = async (sessionId: string, callId: string, approved: boolean): Promise<void> => {
    setFault(undefined);
    try {
      await inbox.decide(sessionId, callId, approved);
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
            <header>
              <button
                type="button"
                className="plain"
                data-testid="inbox-open"
                onClick={() => {
                  onClose();
                  onOpen(sessionId);
                }}
              >
                {agent}, since {new Date(since).toLocaleTimeString()}
              </button>
            </header>
            {pending.map(({ toolCallId, toolName, kind, input, mayDecide }) => (
              <section key={toolCallId} aria-label={toolName}>
                <strong>{toolName}</strong>
                <FieldList value={input} />
                {kind === 'approval' && (
                  <div className="approval-tools">
                    {mayDecide === false ? (
                      <span>A colleague has to agree.</span>
                    ) : (
                      <button
                        type="button"
                        className="primary"
                        data-testid="inbox-approve"
                        onClick={() => void decide(sessionId, toolCallId, true)}
                      >
                        Approve
                      </button>
                    )}
                    <button
                      type="button"
                      data-testid="inbox-deny"
                      onClick={() => void decide(sessionId, toolCallId, false)}
                    >
                      {mayDecide === false ? 'Withdraw' : 'Deny'}
                    </button>
                  </div>
                )}
              </section>
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
