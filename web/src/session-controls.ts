import type { AnswerBody } from '../../protocol/http.js';
import type { PendingQuestion } from '../../protocol/replies.js';
import { generateId, type FileUIPart } from 'ai';
import { Refusal } from './api-client.js';
import type { PageStore } from './page-store.js';
import { withSentAt } from './message-text.js';
import type { AskedCall, QueueEntry, SessionActions } from './session-actions.js';

/** A click extends a deadline by this time. */
const MORE_TIME_MS = 10 * 60_000;
const UNREACHABLE = 'The server could not be reached. Nothing was changed.';

export interface SessionControlsDeps {
  page: PageStore;
  actions: SessionActions;
  /** Reloads the server's state and attaches to a reply in progress. */
  refresh: () => void;
}

/** A person's acts in a conversation other than chat. */
export class SessionControls {
  readonly #page: PageStore;
  readonly #actions: SessionActions;
  readonly #refresh: () => void;

  constructor({ page, actions, refresh }: SessionControlsDeps) {
    this.#page = page;
    this.#actions = actions;
    this.#refresh = refresh;
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
    const sent = await this.#try(() => this.#actions.sayBeside(message, this.#page.get().whenBusy));
    if (!sent) {
      this.#page.set({ draft: text });
      return false;
    }
    await this.#show(() => this.#actions.loadQueue());
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
    return this.#try(() => this.#actions.answer(call, answer));
  }

  /** Extends the deadline for everybody. */
  async extend(asked: AskedCall): Promise<void> {
    await this.#try(async () => {
      const deadline = await this.#actions.extend(asked, MORE_TIME_MS);
      const pending = this.#page
        .get()
        .pending.map((call) =>
          call.toolCallId === asked.toolCallId ? { ...call, deadline } : call,
        );
      this.#page.set({ pending });
    });
  }

  async resume(): Promise<void> {
    await this.#try(() => this.#actions.resume());
  }

  editQueued(id: string, text: string): Promise<void> {
    return this.#show(() => this.#actions.editQueued(id, text));
  }

  removeQueued(id: string): Promise<void> {
    return this.#show(() => this.#actions.removeQueued(id));
  }

  loadCheckpoints(): ReturnType<SessionActions['loadCheckpoints']> {
    return this.#actions.loadCheckpoints();
  }

  /** @returns the id of the copy; undefined if the server declined it */
  async branch(checkpointId?: string): Promise<string | undefined> {
    let copy: string | undefined;
    await this.#try(async () => {
      copy = await this.#actions.branch(checkpointId);
    });
    return copy;
  }

  async #show(change: () => Promise<QueueEntry[]>): Promise<void> {
    const isDone = await this.#try(async () => {
      this.#page.set({ queue: await change() });
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
