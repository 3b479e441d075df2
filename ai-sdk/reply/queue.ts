import type { QueuedMessages } from '../../protocol/replies.js';
import type { KnownPerson } from '../../protocol/actor.js';
import type { QueuedEntry } from '../../store/contract/queue.js';
import type { Store } from '../../store/contract/store.js';
import { convertToUIMessages } from '../parts/convert-messages.js';
import type { UIMessage } from '../parts/ui-message.js';
import { notQueued } from './refusals.js';
import { withText } from './user-messages.js';

/** Converts waiting messages into what a page shows; hidden ones are left out. */
export function toQueue(entries: readonly QueuedEntry[]): QueuedMessages<UIMessage>[] {
  return entries.map(({ messages, askers: _askers, ...entry }) => ({
    ...entry,
    messages: convertToUIMessages(messages.map(({ row }) => row)),
  }));
}

/**
 * Replaces the text of a waiting message; its files stay.
 *
 * @throws HelixError `not_found` if the message is not queued, `message_too_large`
 */
export async function editQueuedMessage(
  { queue }: Pick<Store, 'queue'>,
  input: { sessionId: string; id: string; text: string; asker?: KnownPerson },
): Promise<void> {
  const { sessionId, id, text, asker } = input;
  for (;;) {
    const waiting = (await queue.read(sessionId)).flatMap(({ messages }) => messages);
    const message = waiting.find((candidate) => candidate.id === id);
    if (message === undefined) throw notQueued();
    const edited = { message: withText(message, text), expectedHash: message.hash, asker };
    const result = await queue.edit({ sessionId, ...edited, now: Date.now() });
    if (result.kind === 'edited') return;
    if (result.kind === 'not_queued') throw notQueued();
  }
}
