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
import { ask, Refusal, request, withBody, type Fetch } from './api-client.js';

export type QueueEntry = QueuedMessages<UIMessage>;

/** A point that a conversation can be copied up to. */
export type CheckpointEntry = CheckpointsReply['checkpoints'][number];

/** A call as the page shows it: the server takes an answer to nothing else. */
export type AskedCall = Pick<PendingQuestion, 'toolCallId' | 'approvalId' | 'inputHash'>;

/** Everything that a page does with a session beside talking. All of it throws Refusal if the server declines. */
export class SessionActions {
  readonly #sessionId: string;
  readonly #send: Fetch;
  readonly #chat: string;

  constructor(sessionId: string, send: Fetch) {
    this.#sessionId = sessionId;
    this.#send = send;
    this.#chat = `/api/chat/${encodeURIComponent(sessionId)}`;
  }

  async answer(call: AskedCall, answer: AnswerBody): Promise<void> {
    await this.#post(this.#urlOf(call), { ...answer, ...shownOf(call) });
  }

  /** Resolves to the new deadline, ms since the epoch by the server's clock. */
  async extend(call: AskedCall, byMs: number): Promise<number> {
    const url = `${this.#urlOf(call)}/extend`;
    return (await this.#post<ExtendReply>(url, { byMs, ...shownOf(call) })).deadline;
  }

  async loadQueue(): Promise<QueueEntry[]> {
    return this.#askQueue('');
  }

  async editQueued(id: string, text: string): Promise<QueueEntry[]> {
    return this.#askQueue('', withBody({ id, text }, 'PATCH'));
  }

  async removeQueued(id: string): Promise<QueueEntry[]> {
    return this.#askQueue(`?id=${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  /** Sends a message while a reply is being written; resolves when the server has accepted it. */
  async sayBeside(message: UIMessage, busy: BusyPolicy): Promise<void> {
    const body = { id: this.#sessionId, messages: [message], busy };
    const response = await request(this.#send, this.#chat, withBody(body));
    if (!response.ok) throw new Refusal(response.status, await response.text());
    // The conversation follows the reply itself, as it does when one begins elsewhere.
    await response.body?.cancel();
  }

  /** Resumes a turn that was interrupted. */
  async resume(): Promise<void> {
    await this.#post('/api/agent/resume', { sessionId: this.#sessionId });
  }

  /** Newest first. */
  async loadCheckpoints(): Promise<CheckpointEntry[]> {
    const url = `${this.#chat}/checkpoints?limit=30`;
    return (await ask<CheckpointsReply>(this.#send, url)).checkpoints;
  }

  /** What other agents did for a call. */
  async loadReport(toolCallId: string): Promise<SubAgentReport['events']> {
    const url = `${this.#chat}/sub-agents/${encodeURIComponent(toolCallId)}`;
    return (await ask<SubAgentReport>(this.#send, url)).events;
  }

  /** Copies the conversation, up to a checkpoint if one is named; returns the id of the copy. */
  async branch(checkpointId?: string): Promise<string> {
    const body = checkpointId === undefined ? {} : { checkpointId };
    return (await this.#post<{ sessionId: string }>(`${this.#chat}/branch`, body)).sessionId;
  }

  #post<Reply>(url: string, body: object): Promise<Reply> {
    return ask<Reply>(this.#send, url, withBody(body));
  }

  async #askQueue(rest: string, init?: RequestInit): Promise<QueueEntry[]> {
    const url = `${this.#chat}/queue${rest}`;
    return (await ask<QueueReply<UIMessage>>(this.#send, url, init)).queue;
  }

  #urlOf({ toolCallId }: AskedCall): string {
    return `${this.#chat}/pending/${encodeURIComponent(toolCallId)}`;
  }
}

/** What the server compares with what it asks. */
function shownOf({ approvalId, inputHash }: AskedCall): Omit<AskedCall, 'toolCallId'> {
  return { approvalId, inputHash };
}
