import {
  createResumableChatTransport,
  type Patience,
  type ResumableChatTransport,
} from '../../ai-sdk/client/index.js';
import { HEADERS } from '../../protocol/headers.js';
import { request, type Fetch } from './api-client.js';
import type { PageStore } from './page-store.js';

/** Afterwards the page offers a retry, and tries again when it is looked at or back online. */
const GIVE_UP_AFTER_MS = 10 * 60_000;

export interface TransportSettings {
  send: Fetch;
  /** For tests. */
  patience?: Partial<Pick<Patience, 'giveUpAfterMs' | 'retryDelayMs'>> | undefined;
}

/** The package's transport. The page adds the agent and the snapshot's position, and reads the run id. */
export function openTransport(
  page: PageStore,
  { send, patience }: TransportSettings,
): ResumableChatTransport {
  return createResumableChatTransport({
    api: '/api/chat',
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    ...patience,
    headers: { [HEADERS.subAgents]: '1' },
    // A conversation is bound to its agent by the first message; naming another later is refused.
    body: () => (page.get().bound ? {} : { agent: page.get().agent }),
    fetch: async (input, init) => {
      const isSnapshot = init?.cache === 'no-store';
      const response = await (isSnapshot ? request(send, input, init) : send(input, init));
      const runId = response.headers.get('x-run-id');
      // Whatever has a run exists on the server.
      if (runId !== null && runId !== page.get().runId) page.set({ runId, bound: true });
      return response;
    },
    prepareReconnectToStreamRequest: (asked) => {
      const headers = new Headers(asked.headers);
      const { sequence } = page.get();
      if (sequence !== undefined) headers.set('X-Resume-From-Sequence', String(sequence));
      return { headers };
    },
    onConnectionChange: (isConnected) => {
      page.set({ reconnecting: !isConnected });
    },
  });
}
