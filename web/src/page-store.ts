import type { FileUIPart, UIMessage } from 'ai';
import type {
  CallDecision,
  PendingQuestion,
  QueuedMessages,
  SessionEvent,
} from '../../protocol/replies.js';
import type { RunStatus } from '../../protocol/run.js';

export type QueueEntry = QueuedMessages<UIMessage>;

/** A failure shown to the person, with a retry if that makes sense. */
export interface Notice {
  text: string;
  retry: boolean;
  /** True if the notice is about the newest reply and belongs below it. */
  ofReply?: boolean;
}

/** The server's handling of a message that is sent during a reply. */
export type WhenBusy = 'queue' | 'steer' | 'interrupt';

export interface PageState {
  agent: string;
  /** True if the server has the conversation, which binds it to its agent. */
  bound: boolean;
  /** Stream sequence of the newest snapshot. */
  sequence?: number | undefined;
  runId?: string | undefined;
  /** Status of the newest run at the last read. */
  runStatus?: RunStatus | undefined;
  /** The run waits for this, if it waits for something other than a person. */
  waitingFor?: SessionEvent['run']['waitingFor'];
  /** Start of a scheduled run, ms since the epoch. */
  startAt?: number | undefined;
  /** The agent's state in the newest snapshot; null if it has none. */
  state: Readonly<Record<string, unknown>> | null;
  /** Open questions with their deadlines. */
  pending: readonly PendingQuestion[];
  queue: readonly QueueEntry[];
  /** Decider and time of approvals, by call: from the server, or `you` until it is read. */
  decided: Readonly<Record<string, Omit<CallDecision, 'toolCallId' | 'approved'>>>;
  /** Inputs that were edited on this page before approval, by call. */
  changed: Readonly<Record<string, unknown>>;
  whenBusy: WhenBusy;
  draft: string;
  attachments: readonly Attachment[];
  notice?: Notice | undefined;
  reconnecting: boolean;
  /** True if the server last reported an active run. */
  following: boolean;
  stopping: boolean;
}

export class PageStore {
  #state: PageState;
  readonly #listeners = new Set<() => void>();

  constructor(initial: Pick<PageState, 'agent'> & Partial<PageState>) {
    this.#state = {
      bound: false,
      state: null,
      pending: [],
      queue: [],
      changed: {},
      decided: {},
      whenBusy: 'queue',
      draft: '',
      attachments: [],
      reconnecting: false,
      following: false,
      stopping: false,
      ...initial,
    };
  }

  readonly get = (): PageState => this.#state;

  readonly set = (change: Partial<PageState>): void => {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  };

  /** Puts the text of a refused message back into the composer, before what was typed since. */
  readonly giveBack = (text: string): void => {
    const texts = [text, this.#state.draft].filter((each) => each !== '');
    this.set({ draft: texts.join('\n') });
  };

  /** Notes that this person decided an approval now. */
  readonly noteDecision = (toolCallId: string | undefined): void => {
    if (toolCallId !== undefined)
      this.noteDecisions([{ toolCallId, approved: true, by: 'you', at: Date.now() }]);
  };

  /** Notes the server's decisions, which name the deciders. */
  readonly noteDecisions = (decisions: readonly CallDecision[] = []): void => {
    if (decisions.length === 0) return;
    const decided = { ...this.#state.decided };
    for (const { toolCallId, approved: _approved, ...rest } of decisions)
      decided[toolCallId] = rest;
    this.set({ decided });
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export interface Attachment {
  /** Unique within this page. */
  key: string;
  name: string;
  /** Present once the server has stored the file. */
  part?: FileUIPart | undefined;
  /** Reason why it cannot be sent, for people. */
  fault?: string | undefined;
}
