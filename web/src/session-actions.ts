import type { UIMessage } from 'ai';
import type {
  BusyPolicy,
  CheckpointsReply,
  ExtendReply,
  PendingQuestion,
  QueuedMessages,
  QueueReply,
} from '../../protocol/replies.js';
import type { AnswerBody } from '../../protocol/http.js';
import type { SubAgentReport } from '../../protocol/wire-events.js';
import { ask, Refusal, request, withBody, type Fetch } from './api-client.js';

export type QueueEntry = QueuedMessages<UIMessage>;

/** A checkpoint up to which a conversation can be copied. */
export type CheckpointEntry = CheckpointsReply['checkpoints'][number];

/** Identifies a call as the page shows it; the server refuses answers to any other version. */
export type AskedCall = Pick<PendingQuestion, 'toolCallId' | 'approvalId' | 'inputHash'>;

/** A page's requests about a session, other than chat messages. Every method throws Refusal if the server declines. */
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

  /** Extends a deadline. Resolves to the new one, ms since the epoch by the server's clock. */
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

  /** Sends a message during a reply; resolves when the server has accepted it. */
  async sayBeside(message: UIMessage, busy: BusyPolicy): Promise<void> {
    const body = { id: this.#sessionId, messages: [message], busy };
    const response = await request(this.#send, this.#chat, withBody(body));
    if (!response.ok) throw new Refusal(response.status, await response.text());
    // The conversation attaches to the reply itself, as it does to replies that begin elsewhere.
    await response.body?.cancel();
  }

  async resume(): Promise<void> {
    await this.#post('/api/agent/resume', { sessionId: this.#sessionId });
  }

  /** Loads the checkpoints, newest first. */
  async loadCheckpoints(): Promise<CheckpointEntry[]> {
    const url = `${this.#chat}/checkpoints?limit=30`;
    return (await ask<CheckpointsReply>(this.#send, url)).checkpoints;
  }

  /** Loads the events of a call's sub-agents. */
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

/** Returns the fields by which the server detects that the question has changed. */
function shownOf({ approvalId, inputHash }: AskedCall): Omit<AskedCall, 'toolCallId'> {
  return { approvalId, inputHash };
}
