import { DefaultChatTransport, type UIMessage } from 'ai';
import type { Fetch } from './api-client.js';
import { breakSilence } from './break-silence.js';
import type { PageStore } from './page-store.js';

/** The stock transport. It only adds the agent and the snapshot's position, and reads the run id. */
export function createTransport(page: PageStore, send: Fetch): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport<UIMessage>({
    api: '/api/chat',
    // A conversation is bound to its agent by the first message; naming another later is refused.
    body: () => (page.get().bound ? {} : { agent: page.get().agent }),
    fetch: async (input, init) => {
      const response = await send(input, init);
      const runId = response.headers.get('x-run-id');
      if (runId !== null && runId !== page.get().runId) page.set({ runId });
      return breakSilence(response);
    },
    prepareReconnectToStreamRequest: (request) => {
      const headers = new Headers(request.headers);
      const { sequence } = page.get();
      if (sequence !== undefined) headers.set('X-Resume-From-Sequence', String(sequence));
      return { headers };
    },
  });
}
