import type { AbstractChat, UIMessage } from 'ai';
import { answersAreComplete } from './answers-complete.js';
import { Refusal, type Snapshot } from './api-client.js';
import { describeFailure } from './failure.js';
import type { PageState, PageStore } from './page-store.js';
import { reconcile, textOf } from './reconcile.js';

/**
 * What becomes of input that the server turns out not to have: sent again by the page, offered to
 * the person for another try, given back to the composer, or left standing as it is.
 */
export type Leftovers = 'resend' | 'offer' | 'return' | 'keep';

const MOST_RESENDS = 3;
const NOT_SENT = 'The message did not reach the server.';
const OVERTAKEN = 'A reply to another window was being written, so your message was not sent.';

export function isBusy(chat: AbstractChat<UIMessage>): boolean {
  return chat.status === 'submitted' || chat.status === 'streaming';
}

/** What a snapshot tells beside the messages. */
export function toKnown({ run, pending = [], queue = [] }: Snapshot): Partial<PageState> {
  return { pending, queue, ...(run && { runId: run.runId, runStatus: run.status }) };
}

/** What waits is answered as soon as nothing else is. */
function isNextDue({ status, queue = [] }: Snapshot): boolean {
  return queue.length > 0 && (status === 'ended' || status === 'failed');
}

export type LoadSnapshot = (signal?: AbortSignal) => Promise<Snapshot | undefined>;

/** Brings the chat to where the server stands, and from there on follows or sends what is due. */
export class CatchUp {
  readonly #chat: AbstractChat<UIMessage>;
  readonly #page: PageStore;
  readonly #load: LoadSnapshot;
  #resends = 0;

  constructor(chat: AbstractChat<UIMessage>, page: PageStore, load: LoadSnapshot) {
    this.#chat = chat;
    this.#page = page;
    this.#load = load;
  }

  /** The person or the server moved on: the page may send again by itself when that breaks. */
  calm(): void {
    this.#resends = 0;
  }

  /** One look after a break. Throws if there has to be another. */
  async look(leftovers: Leftovers, signal: AbortSignal): Promise<void> {
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await this.#load(signal);
    } catch (error) {
      if (!(error instanceof Refusal) || error.passing) throw error;
      this.#page.set({ notice: { text: error.message, retry: false } });
      return;
    }
    if (signal.aborted || isBusy(this.#chat)) return;
    await this.#adopt(snapshot, leftovers);
    const { status, lastMessage } = this.#chat;
    if (snapshot?.status === 'active' && status === 'ready' && lastMessage?.role === 'user') {
      throw new Error('The reply ended between the snapshot and the stream.');
    }
    if (snapshot !== undefined && isNextDue(snapshot) && !isBusy(this.#chat)) {
      throw new Error('The next turn has not begun yet.');
    }
  }

  /** A look of an idle page. Does nothing if the page has moved on meanwhile. */
  async refresh(idle: () => boolean): Promise<void> {
    const before = this.#chat.messages;
    if (!idle()) return;
    const snapshot = await this.#load().catch(() => undefined);
    if (snapshot === undefined || !idle() || this.#chat.messages !== before) return;
    await this.#adopt(snapshot, 'keep');
  }

  /** Resolves when the response that it led to, if any, is over. */
  async #adopt(snapshot: Snapshot | undefined, leftovers: Leftovers): Promise<void> {
    const chat = this.#chat;
    const server = snapshot?.messages ?? [];
    const { messages, undelivered, answersKept } = reconcile(server, chat.messages);
    if (snapshot !== undefined) {
      this.#page.set({ bound: true, sequence: snapshot.streamSequence, ...toKnown(snapshot) });
    }
    chat.clearError();
    chat.messages = leftovers === 'return' ? server : messages;

    const active = snapshot?.status === 'active';
    if (undelivered !== undefined && (active || leftovers === 'return')) {
      this.#giveBack(undelivered, active ? OVERTAKEN : NOT_SENT);
    } else if (undelivered !== undefined) {
      if (this.#maySend(leftovers)) return chat.sendMessage(undelivered);
      chat.messages = [...messages, undelivered];
    } else if (answersKept && leftovers !== 'return' && answersAreComplete({ messages })) {
      if (this.#maySend(leftovers)) return chat.sendMessage();
    } else if (this.#page.get().notice?.retry === true) {
      // What looked lost had arrived.
      this.#page.set({ notice: undefined });
    }
    if (snapshot?.status === 'failed' && leftovers !== 'keep') this.#tellOfFailure(snapshot);
    if (active) await chat.resumeStream();
  }

  #maySend(leftovers: Leftovers): boolean {
    if (leftovers === 'resend' && this.#resends < MOST_RESENDS) {
      this.#resends += 1;
      return true;
    }
    if (leftovers !== 'keep') {
      const text = this.#page.get().notice?.text ?? NOT_SENT;
      this.#page.set({ notice: { text, retry: true } });
    }
    return false;
  }

  #tellOfFailure({ run }: Snapshot): void {
    if (this.#page.get().notice !== undefined) return;
    this.#page.set({ notice: { text: describeFailure(run), retry: false } });
  }

  #giveBack(message: UIMessage, otherwise: string): void {
    const { draft, notice } = this.#page.get();
    const text = [textOf(message), draft].filter((words) => words !== '').join('\n');
    const why = notice !== undefined && !notice.retry ? notice.text : otherwise;
    this.#page.set({ draft: text, notice: { text: why, retry: false } });
  }
}
