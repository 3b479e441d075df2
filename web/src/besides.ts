import { generateId } from 'ai';
import { Refusal } from './api-client.js';
import type { PageStore } from './page-store.js';
import type { QueueEntry, SessionActions } from './session-actions.js';

/** Time that a click adds to a deadline. */
export const MORE_TIME_MS = 10 * 60_000;
const UNREACHABLE = 'The server could not be reached. Nothing was changed.';

export interface BesidesDeps {
  page: PageStore;
  actions: SessionActions;
  /** Looks for the reply that the server writes next, unless one is being received. */
  follow: () => void;
}

/** What a person does with a conversation beside talking: answers of other kinds, the queue, more time. */
export class Besides {
  readonly #page: PageStore;
  readonly #actions: SessionActions;
  readonly #follow: () => void;
  /** A message was sent that is answered after the reply at work. */
  #expectsMore = false;

  constructor({ page, actions, follow }: BesidesDeps) {
    this.#page = page;
    this.#actions = actions;
    this.#follow = follow;
  }

  /** A reply came to its end: takes note of what waits now, and follows what comes next. */
  async afterReply(): Promise<void> {
    if (this.#expectsMore || this.#page.get().queue.length > 0) {
      this.#expectsMore = false;
      this.#follow();
      return;
    }
    const waiting = await this.#actions.loadWaiting().catch(() => undefined);
    if (waiting === undefined) return;
    const { run, pending } = waiting;
    this.#page.set({ pending, runId: run.runId, runStatus: run.status });
  }

  /** Says something while a reply is being written. What the server declines goes back to the composer. */
  async say(text: string): Promise<void> {
    this.#expectsMore = true;
    const message = {
      id: generateId(),
      role: 'user' as const,
      parts: [{ type: 'text', text } as const],
    };
    const sent = await this.#try(() => this.#actions.sayBeside(message, this.#page.get().whenBusy));
    if (!sent) {
      this.#expectsMore = false;
      this.#page.set({ draft: text });
      return;
    }
    await this.readQueue();
    this.#follow();
  }

  /** Approves a call with another input. @returns false if the server declined it */
  async approveChanged(toolCallId: string, input: unknown): Promise<boolean> {
    const isTaken = await this.#try(() =>
      this.#actions.answer(toolCallId, { approved: true, input }),
    );
    if (!isTaken) return false;
    this.#page.set({ changed: { ...this.#page.get().changed, [toolCallId]: input } });
    this.#follow();
    return true;
  }

  /** Gives everybody more time to answer. */
  async extend(toolCallId: string): Promise<void> {
    await this.#try(() => this.#actions.extend(toolCallId, MORE_TIME_MS));
    await this.afterReply();
  }

  /** Something else than this page moved the conversation on: another's answer, or time. */
  readonly lookAgain = (): void => {
    this.#follow();
  };

  async goOn(): Promise<void> {
    if (await this.#try(this.#actions.goOn)) this.#follow();
  }

  readonly readQueue = (): Promise<void> => this.#show(this.#actions.loadQueue);

  editQueued(id: string, text: string): Promise<void> {
    return this.#show(() => this.#actions.editQueued(id, text));
  }

  removeQueued(id: string): Promise<void> {
    return this.#show(() => this.#actions.removeQueued(id));
  }

  loadCheckpoints(): ReturnType<SessionActions['loadCheckpoints']> {
    return this.#actions.loadCheckpoints();
  }

  /** @returns the id of the copy; undefined if there is none */
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
    // Most likely its turn has come meanwhile.
    if (!isDone) this.#follow();
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
