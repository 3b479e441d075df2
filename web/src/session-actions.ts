import type { UIMessage } from 'ai';
import type { BusyPolicy } from '../../protocol/replies.js';
import type {
  AnswerBody,
  PendingQuestion,
  QueuedMessages,
  QueueReply,
} from '../../protocol/http.js';
import type { CheckpointsReply, ExtendReply } from '../../protocol/replies.js';
import type { SubAgentReport } from '../../protocol/wire-events.js';
import { Refusal, request, type Fetch } from './api-client.js';

export type QueueEntry = QueuedMessages<UIMessage>;

/** A point that a conversation can be copied up to. */
export type CheckpointEntry = CheckpointsReply['checkpoints'][number];

/** A call as the page shows it: the server takes an answer to nothing else. */
export type AskedCall = Pick<PendingQuestion, 'toolCallId' | 'approvalId' | 'inputHash'>;

/** Everything that a page does with a session beside talking. All of it throws Refusal if the server declines. */
export interface SessionActions {
  answer: (call: AskedCall, answer: AnswerBody) => Promise<void>;
  /** Resolves to the new deadline, ms since the epoch by the server's clock. */
  extend: (call: AskedCall, byMs: number) => Promise<number>;
  loadQueue: () => Promise<QueueEntry[]>;
  editQueued: (id: string, text: string) => Promise<QueueEntry[]>;
  removeQueued: (id: string) => Promise<QueueEntry[]>;
  /** Sends a message while a reply is being written; resolves when the server has accepted it. */
  sayBeside: (message: UIMessage, busy: BusyPolicy) => Promise<void>;
  /** Resumes a turn that was interrupted. */
  resume: () => Promise<void>;
  /** Newest first. */
  loadCheckpoints: () => Promise<CheckpointEntry[]>;
  /** What other agents did for a call. */
  loadReport: (toolCallId: string) => Promise<SubAgentReport['events']>;
  /** Copies the conversation, up to a checkpoint if one is named; returns the id of the copy. */
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
    answer: async ({ toolCallId, approvalId, inputHash }, answer) => {
      await ask(call(toolCallId), 'POST', { ...answer, approvalId, inputHash });
    },
    extend: async ({ toolCallId, approvalId, inputHash }, byMs) => {
      const url = `${call(toolCallId)}/extend`;
      return (await ask<ExtendReply>(url, 'POST', { byMs, approvalId, inputHash })).deadline;
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
      // The conversation follows the reply itself, as it does when one begins elsewhere.
      await response.body?.cancel();
    },
    resume: async () => {
      await ask('/api/agent/resume', 'POST', { sessionId });
    },
    loadCheckpoints: async () => {
      const page = await ask<CheckpointsReply>(`${chat}/checkpoints?limit=30`);
      return page.checkpoints;
    },
    loadReport: async (toolCallId) => {
      const url = `${chat}/sub-agents/${encodeURIComponent(toolCallId)}`;
      return (await ask<SubAgentReport>(url)).events;
    },
    branch: async (checkpointId) => {
      const body = checkpointId === undefined ? {} : { checkpointId };
      return (await ask<{ sessionId: string }>(`${chat}/branch`, 'POST', body)).sessionId;
    },
  };
}
