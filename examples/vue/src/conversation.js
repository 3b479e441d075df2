import {
  createHelixSendAutomaticallyWhen,
  createResumableChatTransport,
  loadSnapshot,
} from 'helix-temporal/ai-sdk/client';

/** Loads the conversation in the address, or begins a new one. */
export async function openConversation() {
  const address = new URL(location.href);
  const id = address.searchParams.get('session') ?? crypto.randomUUID();
  address.searchParams.set('session', id);
  history.replaceState(null, '', address);
  const { messages, status } = await loadSnapshot(id);
  // While it waits for people too: an answer may be given elsewhere at this moment.
  const isOpen = status === 'active' || status === 'paused';
  return { isOpen, options: { id, messages, ...createConnection() } };
}

/** One for each chat: it remembers which answers were sent. */
function createConnection() {
  return {
    transport: createResumableChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: createHelixSendAutomaticallyWhen(),
  };
}
