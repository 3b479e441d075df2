import { useState, type ReactElement } from 'react';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { textOf } from './message-text.js';
import type { QueueEntry } from './session-actions.js';

const MODES: Record<QueueEntry['mode'], string> = {
  queue: 'waits for its turn',
  steer: 'goes into the next step',
  interrupt: 'is answered as soon as the reply has stopped',
};

/** Messages that wait for their turn; they can be changed and taken back until it comes. */
export function QueueList(): ReactElement | null {
  const queue = usePageState((page) => page.queue);
  if (queue.length === 0) return null;
  return (
    <ul className="queue" aria-label="Messages that wait" data-testid="queue">
      {queue.flatMap(({ messages, mode }) =>
        messages.map((message) => (
          <QueuedMessage
            key={message.id}
            id={message.id}
            text={textOf(message)}
            mode={MODES[mode]}
          />
        )),
      )}
    </ul>
  );
}

interface EntryProps {
  id: string;
  text: string;
  mode: string;
}

function QueuedMessage({ id, text, mode }: EntryProps): ReactElement {
  const { controls } = useCurrentConversation();
  const [draft, setDraft] = useState<string>();
  const save = (): void => {
    const changed = draft?.trim() ?? '';
    setDraft(undefined);
    if (changed !== '' && changed !== text) void controls.editQueued(id, changed);
  };
  return (
    <li data-testid="queued">
      {draft === undefined ? (
        <>
          <span className="queued-text">{text}</span>
          <span className="queued-mode">{mode}</span>
          <button
            type="button"
            className="plain"
            data-testid="edit-queued"
            onClick={() => {
              setDraft(text);
            }}
          >
            Edit
          </button>
          <button
            type="button"
            className="plain"
            data-testid="remove-queued"
            onClick={() => void controls.removeQueued(id)}
          >
            Remove
          </button>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <input
            data-testid="queued-draft"
            aria-label="Message that waits"
            autoFocus
            value={draft}
            onChange={(event) => {
              setDraft(event.target.value);
            }}
          />
          <button type="submit" data-testid="save-queued">
            Save
          </button>
        </form>
      )}
    </li>
  );
}
