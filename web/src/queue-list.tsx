import type { ReactElement } from 'react';
import { usePageState } from './current-conversation.js';
import { filesOf, textOf } from './message-text.js';
import { QueuedMessage } from './queued-message.js';
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
            files={filesOf(message)}
            mode={MODES[mode]}
          />
        )),
      )}
    </ul>
  );
}
