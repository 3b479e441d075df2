import type { WaitingSession, WaitingSessions } from '../../protocol/http.js';
import { Refusal, request, type Fetch } from './api-client.js';
import { pageFetch } from './page-fetch.js';
import { createSessionActions } from './session-actions.js';

export type { WaitingSession } from '../../protocol/http.js';

/** What waits for people in all conversations, those first that have waited longest. */
export interface Inbox {
  load: () => Promise<WaitingSession[]>;
  /** Approves or denies a call of any conversation; its run continues whether or not a page shows it. */
  decide: (sessionId: string, toolCallId: string, decision: InboxDecision) => Promise<void>;
}

/** What a person decides; an input replaces what the agent asked for. */
export type InboxDecision =
  | { approved: true; input: Record<string, unknown> | undefined }
  | { approved: false; reason: string | undefined };

export function createInbox(send: Fetch = pageFetch): Inbox {
  return {
    load: async () => {
      const response = await request(send, '/api/sessions?limit=50');
      if (!response.ok) throw new Refusal(response.status, await response.text());
      return ((await response.json()) as WaitingSessions).sessions;
    },
    decide: (sessionId, toolCallId, decision) =>
      createSessionActions(sessionId, send).answer(toolCallId, decision),
  };
}
