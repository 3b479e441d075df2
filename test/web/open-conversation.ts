import type { UIMessage } from 'ai';
import type { Snapshot } from '../../web/src/api-client.js';
import { Conversation } from '../../web/src/conversation.js';
import { textOf } from '../../web/src/reconcile.js';
import { eventually } from './eventually.js';
import type { WireServer } from './wire-server.js';

/** A conversation on a laid-out server, which does not wait between its tries. */
export function openConversation(server: WireServer, snapshot?: Snapshot): Conversation {
  return new Conversation({
    sessionId: 's1',
    agent: 'lab',
    snapshot,
    send: server.send,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

/** Nothing is being received and nothing is being recovered. */
export async function atRest({ chat, page }: Conversation): Promise<void> {
  const busy = ['submitted', 'streaming'];
  await eventually(() => !busy.includes(chat.status) && !page.get().reconnecting);
}

export function shown({ chat }: Conversation): string[] {
  return chat.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** What a server that took the first message has on record, before it answers. */
export function taken(server: WireServer): UIMessage[] {
  return server.named('POST')[0]?.body.messages ?? [];
}
