import type { WaitingSession, WaitingSessions } from '../../protocol/replies.js';
import { ask, pageFetch, type Fetch } from './api-client.js';

/** First pages of the waiting conversations. */
export interface Waiting {
  sessions: WaitingSession[];
  hasMore: boolean;
}

/** Loads the conversations that wait for people, longest wait first. */
export async function loadWaiting(pages = 1, send: Fetch = pageFetch): Promise<Waiting> {
  let sessions: WaitingSession[] = [];
  let cursor: string | undefined;
  let page = 0;
  do {
    const query = new URLSearchParams({ limit: '50', ...(cursor !== undefined && { cursor }) });
    const next = await ask<WaitingSessions>(send, `/api/sessions?${query.toString()}`);
    sessions = [...sessions, ...next.sessions];
    ({ cursor } = next);
    page += 1;
  } while (page < pages && cursor !== undefined);
  // A conversation that asked again between two page reads is in both pages.
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  return { sessions: [...byId.values()], hasMore: cursor !== undefined };
}
