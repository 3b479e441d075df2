import { createResumableChatTransport, loadSnapshot } from 'helix-temporal/ai-sdk/client';

/** Returns options of `useHelixChat` for the conversation in the address, or for a new one. */
export async function openConversation() {
  const address = new URL(location.href);
  const id = address.searchParams.get('session') ?? crypto.randomUUID();
  address.searchParams.set('session', id);
  history.replaceState(null, '', address);
  const { messages, pending, status } = await loadSnapshot(id);
  const transport = createResumableChatTransport({ api: '/api/chat' });
  // While it waits for people too: an answer may be given elsewhere at this moment.
  return { id, messages, pending, transport, resume: status === 'active' || status === 'paused' };
}
