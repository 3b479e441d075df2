import type { AnswerBody, WaitingSession, WaitingSessions } from '../../protocol/http.js';
import { Refusal, request, type Fetch } from './api-client.js';
import { pageFetch } from './page-fetch.js';
import { createSessionActions, type AskedCall } from './session-actions.js';

/** The beginning of what waits, and whether there is more. */
export interface Waiting {
  sessions: WaitingSession[];
  hasMore: boolean;
}

/** What waits for people in all conversations, those first that have waited longest. */
export interface Inbox {
  load: (pages?: number) => Promise<Waiting>;
  /** Answers a call of any conversation; its run continues whether or not a page shows it. */
  answer: (sessionId: string, call: AskedCall, answer: AnswerBody) => Promise<void>;
}

export function createInbox(send: Fetch = pageFetch): Inbox {
  const read = async (cursor?: string): Promise<WaitingSessions> => {
    const query = new URLSearchParams({ limit: '50', ...(cursor !== undefined && { cursor }) });
    const response = await request(send, `/api/sessions?${query.toString()}`);
    if (!response.ok) throw new Refusal(response.status, await response.text());
    return (await response.json()) as WaitingSessions;
  };

  return {
    load: async (pages = 1) => {
      let { sessions, cursor } = await read();
      for (let page = 1; page < pages && cursor !== undefined; page += 1) {
        const next = await read(cursor);
        sessions = [...sessions, ...next.sessions];
        ({ cursor } = next);
      }
      // A conversation that asked again between two pages is in both.
      const byId = new Map(sessions.map((session) => [session.sessionId, session]));
      return { sessions: [...byId.values()], hasMore: cursor !== undefined };
    },
    answer: (sessionId, call, answer) => createSessionActions(sessionId, send).answer(call, answer),
  };
}
