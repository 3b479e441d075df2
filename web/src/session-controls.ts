import { generateId, type FileUIPart, type UIMessage } from 'ai';
import type { AnswerBody, SubAgentReport } from '../../protocol/http.js';
import type {
  CheckpointsReply,
  ExtendReply,
  PendingQuestion,
  QueueReply,
} from '../../protocol/replies.js';
import { ask, chatUrl, Refusal, request, withBody, type Fetch } from './api-client.js';
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
  const { toolCallId, ...shown } = shownOf(call);
  await ask(send, chatUrl(sessionId, 'pending', toolCallId), withBody({ ...answer, ...shown }));
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
  readonly #deps: SessionControlsDeps;

  constructor(deps: SessionControlsDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a message during a reply.
   * @returns false if refused; the message is then back in the composer
   */
  async say(text: string, files: readonly FileUIPart[] = []): Promise<boolean> {
    const message = {
      id: generateId(),
      role: 'user' as const,
      metadata: { sentAt: Date.now() },
      parts: [...files, { type: 'text', text } as const],
    };
    const { sessionId, send, page } = this.#deps;
    const body = { id: sessionId, messages: [message], busy: page.get().whenBusy };
    const sent = await this.#try(async () => {
      const response = await request(send, chatUrl(sessionId), withBody(body));
      if (!response.ok) throw new Refusal(response.status, await response.text());
      // The conversation attaches to the reply itself, as it does to replies that begin elsewhere.
      await response.body?.cancel();
    });
    if (!sent) {
      page.giveBack(text);
      return false;
    }
    await this.#showQueue('');
    return true;
  }

  /** Approves a call with an edited input. @returns false if the server declined it */
  async approveChanged(call: AskedCall, input: unknown, reason?: string): Promise<boolean> {
    if (!(await this.answer(call, { approved: true, input, reason }))) return false;
    const { page } = this.#deps;
    page.noteDecision(call.toolCallId);
    page.set({ changed: { ...page.get().changed, [call.toolCallId]: input } });
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
    return this.#try(() => answerCall(this.#deps.send, this.#deps.sessionId, call, answer));
  }

  /** Extends the deadline for everybody; the server's reply has the new one by its clock. */
  async extend(asked: AskedCall): Promise<void> {
    const { toolCallId, ...shown } = shownOf(asked);
    const body = { byMs: MORE_TIME_MS, ...shown };
    await this.#try(async () => {
      const { deadline } = await this.#ask<ExtendReply>(
        ['pending', toolCallId, 'extend'],
        withBody(body),
      );
      const { page } = this.#deps;
      const pending = page
        .get()
        .pending.map((call) => (call.toolCallId === toolCallId ? { ...call, deadline } : call));
      page.set({ pending });
    });
  }

  async resume(): Promise<void> {
    const { sessionId, send } = this.#deps;
    await this.#try(() => ask(send, '/api/agent/resume', withBody({ sessionId })));
  }

  editQueued(id: string, text: string): Promise<void> {
    return this.#showQueue('', withBody({ id, text }, 'PATCH'));
  }

  removeQueued(id: string): Promise<void> {
    return this.#showQueue(`?id=${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  /** Loads the checkpoints, newest first. */
  async loadCheckpoints(): Promise<CheckpointEntry[]> {
    return (await this.#ask<CheckpointsReply>(['checkpoints'], {}, '?limit=30')).checkpoints;
  }

  /** Loads the events of a call's sub-agents. */
  async loadReport(toolCallId: string): Promise<SubAgentReport['events']> {
    return (await this.#ask<SubAgentReport>(['sub-agents', toolCallId])).events;
  }

  /**
   * Copies the conversation up to a checkpoint.
   * @returns the id of the copy; undefined if the server declined it
   */
  async branch(checkpointId: string): Promise<string | undefined> {
    let copy: string | undefined;
    await this.#try(async () => {
      const body = withBody({ checkpointId });
      copy = (await this.#ask<{ sessionId: string }>(['branch'], body)).sessionId;
    });
    return copy;
  }

  /** Reads or changes the queue, and shows it. */
  async #showQueue(search: string, init?: RequestInit): Promise<void> {
    const { page, refresh } = this.#deps;
    const isDone = await this.#try(async () => {
      const { queue } = await this.#ask<QueueReply<UIMessage>>(['queue'], init, search);
      page.set({ queue });
    });
    // Most likely the message's turn has begun meanwhile.
    if (!isDone) refresh();
  }

  #ask<Reply>(path: readonly string[], init?: RequestInit, search = ''): Promise<Reply> {
    const { sessionId, send } = this.#deps;
    return ask<Reply>(send, chatUrl(sessionId, ...path) + search, init);
  }

  async #try(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      const text = error instanceof Refusal ? error.message : UNREACHABLE;
      this.#deps.page.set({ notice: { text, retry: false } });
      return false;
    }
  }
}

/** Returns the call's id and the fields by which the server detects that the question has changed. */
function shownOf({ toolCallId, approvalId, inputHash }: AskedCall): AskedCall {
  return { toolCallId, approvalId, inputHash };
}
