import type { UIMessage } from 'ai';
import type { BusyPolicy } from '../../protocol/busy.js';
import type {
  AnswerBody,
  PendingQuestion,
  QueuedMessages,
  QueueReply,
} from '../../protocol/http.js';
import type { RunStatus } from '../../protocol/run.js';
import { Refusal, request, type Fetch } from './api-client.js';

export type QueueEntry = QueuedMessages<UIMessage>;

/** What a session waits for, and how its newest run stands. */
export interface Waiting {
  run: { runId: string; status: RunStatus };
  pending: PendingQuestion[];
}

/** A point that a conversation can be copied up to. */
export interface CheckpointEntry {
  id: string;
  runId: string;
  stepCount: number;
  /** ms since the epoch. */
  timestamp: number;
}

/** Everything that a page does with a session beside talking. All of it throws Refusal for a no. */
export interface SessionActions {
  loadWaiting: () => Promise<Waiting>;
  answer: (toolCallId: string, answer: AnswerBody) => Promise<void>;
  extend: (toolCallId: string, byMs: number) => Promise<void>;
  loadQueue: () => Promise<QueueEntry[]>;
  editQueued: (id: string, text: string) => Promise<QueueEntry[]>;
  removeQueued: (id: string) => Promise<QueueEntry[]>;
  /** Says something while a reply is being written; resolves when the server has taken it. */
  sayBeside: (message: UIMessage, busy: BusyPolicy) => Promise<void>;
  /** Goes on with a turn that was interrupted. */
  goOn: () => Promise<void>;
  /** Newest first. */
  loadCheckpoints: () => Promise<CheckpointEntry[]>;
  /** Copies the conversation, up to a checkpoint if one is named; gives the id of the copy. */
  branch: (checkpointId?: string) => Promise<string>;
}

export function createSessionActions(sessionId: string, send: Fetch): SessionActions {
  const id = encodeURIComponent(sessionId);
  const chat = `/api/chat/${id}`;

  async function ask<T>(url: string, method = 'GET', body?: object): Promise<T> {
    const response = await request(send, url, {
      method,
      ...(body && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    if (!response.ok) throw new Refusal(response.status, await response.text());
    return (await response.json()) as T;
  }

  const call = (toolCallId: string): string => `${chat}/pending/${encodeURIComponent(toolCallId)}`;
  const queueOf = ({ queue }: QueueReply<UIMessage>): QueueEntry[] => queue;

  return {
    loadWaiting: () => ask<Waiting>(`/api/sessions/${id}/pending`),
    answer: async (toolCallId, answer) => {
      await ask(call(toolCallId), 'POST', answer);
    },
    extend: async (toolCallId, byMs) => {
      await ask(`${call(toolCallId)}/extend`, 'POST', { byMs });
    },
    loadQueue: async () => queueOf(await ask(`${chat}/queue`)),
    editQueued: async (messageId, text) =>
      queueOf(await ask(`${chat}/queue`, 'PATCH', { id: messageId, text })),
    removeQueued: async (messageId) =>
      queueOf(await ask(`${chat}/queue?id=${encodeURIComponent(messageId)}`, 'DELETE')),
    sayBeside: async (message, busy) => {
      const response = await request(send, chat, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: sessionId, messages: [message], busy }),
      });
      if (!response.ok) throw new Refusal(response.status, await response.text());
      // The reply is followed by the conversation itself, as after any break.
      await response.body?.cancel();
    },
    goOn: async () => {
      await ask('/api/agent/resume', 'POST', { sessionId });
    },
    loadCheckpoints: async () => {
      const page = await ask<{ checkpoints: CheckpointEntry[] }>(`${chat}/checkpoints?limit=30`);
      return page.checkpoints;
    },
    branch: async (checkpointId) => {
      const body = checkpointId === undefined ? {} : { checkpointId };
      return (await ask<{ sessionId: string }>(`${chat}/branch`, 'POST', body)).sessionId;
    },
  };
}
