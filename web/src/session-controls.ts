import { generateId, type FileUIPart, type UIMessage } from 'ai';
import type { AnswerBody } from '../../protocol/http.js';
import type {
  CheckpointsReply,
  ExtendReply,
  PendingQuestion,
  QueueReply,
} from '../../protocol/replies.js';
import type { SubAgentReport } from '../../protocol/wire-events.js';
import { ask, Refusal, request, withBody, type Fetch } from './api-client.js';
import { withSentAt } from './message-text.js';
import type { PageStore } from './page-store.js';

/** A click extends a deadline by this time. */
const MORE_TIME_MS = 10 * 60_000;
const UNREACHABLE = 'The server could not be reached. Nothing was changed.';

/** A checkpoint up to which a conversation can be copied. */
export type CheckpointEntry = CheckpointsReply['checkpoints'][number];

/** Identifies a call as the page shows it; the server refuses answers to any other version. */
export type AskedCall = Pick<PendingQuestion, 'toolCallId' | 'approvalId' | 'inputHash'>;

/** @throws Refusal, TypeError */
export async function answerCall(
  send: Fetch,
  sessionId: string,
  call: AskedCall,
  answer: AnswerBody,
): Promise<void> {
  await ask(send, urlOfCall(sessionId, call), withBody({ ...answer, ...shownOf(call) }));
}

export interface SessionControlsDeps {
  sessionId: string;
  send: Fetch;
  page: PageStore;
  /** Reloads the server's state and attaches to a reply in progress. */
  refresh: () => void;
}

/** A person's acts in a conversation other than chat. Those that load data throw Refusal or TypeError. */
export class SessionControls {
  readonly #sessionId: string;
  readonly #send: Fetch;
  readonly #page: PageStore;
  readonly #refresh: () => void;
  readonly #chat: string;

  constructor({ sessionId, send, page, refresh }: SessionControlsDeps) {
    this.#sessionId = sessionId;
    this.#send = send;
    this.#page = page;
    this.#refresh = refresh;
    this.#chat = urlOfChat(sessionId);
  }

  /**
   * Sends a message during a reply.
   * @returns false if refused; the message is then back in the composer
   */
  async say(text: string, files: readonly FileUIPart[] = []): Promise<boolean> {
    const message = {
      id: generateId(),
      role: 'user' as const,
      metadata: withSentAt(),
      parts: [...files, { type: 'text', text } as const],
    };
    const body = { id: this.#sessionId, messages: [message], busy: this.#page.get().whenBusy };
    const sent = await this.#try(async () => {
      const response = await request(this.#send, this.#chat, withBody(body));
      if (!response.ok) throw new Refusal(response.status, await response.text());
      // The conversation attaches to the reply itself, as it does to replies that begin elsewhere.
      await response.body?.cancel();
    });
    if (!sent) {
      this.#page.set({ draft: text });
      return false;
    }
    await this.#showQueue('');
    return true;
  }

  /** Approves a call with an edited input. @returns false if the server declined it */
  async approveChanged(call: AskedCall, input: unknown, reason?: string): Promise<boolean> {
    const { toolCallId } = call;
    if (!(await this.answer(call, { approved: true, input, reason }))) return false;
    this.#page.noteDecision(toolCallId);
    this.#page.set({ changed: { ...this.#page.get().changed, [toolCallId]: input } });
    return true;
  }

  /** Withdraws a call that another person decides. @returns false if the server declined it */
  async withdraw(
    call: AskedCall & Pick<PendingQuestion, 'kind'>,
    reason?: string,
  ): Promise<boolean> {
    const isApproval = call.kind === 'approval';
    const error = reason ?? 'It was withdrawn.';
    return this.answer(call, isApproval ? { approved: false, reason } : { error });
  }

  async answer(call: AskedCall, answer: AnswerBody): Promise<boolean> {
    return this.#try(() => answerCall(this.#send, this.#sessionId, call, answer));
  }

  /** Extends the deadline for everybody; the server's reply has the new one by its clock. */
  async extend(asked: AskedCall): Promise<void> {
    await this.#try(async () => {
      const url = `${urlOfCall(this.#sessionId, asked)}/extend`;
      const body = { byMs: MORE_TIME_MS, ...shownOf(asked) };
      const { deadline } = await ask<ExtendReply>(this.#send, url, withBody(body));
      const pending = this.#page
        .get()
        .pending.map((call) =>
          call.toolCallId === asked.toolCallId ? { ...call, deadline } : call,
        );
      this.#page.set({ pending });
    });
  }

  async resume(): Promise<void> {
    const body = { sessionId: this.#sessionId };
    await this.#try(() => ask(this.#send, '/api/agent/resume', withBody(body)));
  }

  editQueued(id: string, text: string): Promise<void> {
    return this.#showQueue('', withBody({ id, text }, 'PATCH'));
  }

  removeQueued(id: string): Promise<void> {
    return this.#showQueue(`?id=${encodeURIComponent(id)}`, { method: 'DELETE' });
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

  /**
   * Copies the conversation, up to a checkpoint if one is named.
   * @returns the id of the copy; undefined if the server declined it
   */
  async branch(checkpointId?: string): Promise<string | undefined> {
    let copy: string | undefined;
    await this.#try(async () => {
      const body = checkpointId === undefined ? {} : { checkpointId };
      const url = `${this.#chat}/branch`;
      copy = (await ask<{ sessionId: string }>(this.#send, url, withBody(body))).sessionId;
    });
    return copy;
  }

  /** Reads or changes the queue, and shows it. */
  async #showQueue(rest: string, init?: RequestInit): Promise<void> {
    const isDone = await this.#try(async () => {
      const url = `${this.#chat}/queue${rest}`;
      const { queue } = await ask<QueueReply<UIMessage>>(this.#send, url, init);
      this.#page.set({ queue });
    });
    // Most likely the message's turn has begun meanwhile.
    if (!isDone) this.#refresh();
  }

  async #try(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      const text = error instanceof Refusal ? error.message : UNREACHABLE;
      this.#page.set({ notice: { text, retry: false } });
      return false;
    }
  }
}

function urlOfChat(sessionId: string): string {
  return `/api/chat/${encodeURIComponent(sessionId)}`;
}

function urlOfCall(sessionId: string, { toolCallId }: AskedCall): string {
  return `${urlOfChat(sessionId)}/pending/${encodeURIComponent(toolCallId)}`;
}

/** Returns the fields by which the server detects that the question has changed. */
function shownOf({ approvalId, inputHash }: AskedCall): Omit<AskedCall, 'toolCallId'> {
  return { approvalId, inputHash };
}
