import type { AnswerBody, WaitingSession, WaitingSessions } from '../../protocol/http.js';
import { Refusal, request, type Fetch } from './api-client.js';
import { pageFetch } from './page-fetch.js';
import { createSessionActions } from './session-actions.js';

export type { WaitingSession } from '../../protocol/http.js';

/** What waits for people in all conversations, those first that have waited longest. */
export interface Inbox {
  load: () => Promise<WaitingSession[]>;
  /** Answers a call of any conversation; its run continues whether or not a page shows it. */
  answer: (sessionId: string, toolCallId: string, answer: AnswerBody) => Promise<void>;
}

export function createInbox(send: Fetch = pageFetch): Inbox {
  return {
    load: async () => {
      const response = await request(send, '/api/sessions?limit=50');
      if (!response.ok) throw new Refusal(response.status, await response.text());
      return ((await response.json()) as WaitingSessions).sessions;
    },
    answer: (sessionId, toolCallId, answer) =>
      createSessionActions(sessionId, send).answer(toolCallId, answer),
  };
}
