import type { FileUIPart } from 'ai';
import type { PendingQuestion, SessionEvent } from '../../protocol/http.js';
import type { CallDecision } from '../../protocol/replies.js';
import type { RunStatus } from '../../protocol/run.js';
import type { QueueEntry } from './session-actions.js';

/** A line for the person: what went wrong, and whether trying again makes sense. */
export interface Notice {
  text: string;
  retry: boolean;
  /** True if it is about the newest reply, and so is shown below it. */
  ofReply?: boolean;
}

/** What the server does with a message that is sent while a reply is being written. */
export type WhenBusy = 'queue' | 'steer' | 'interrupt';

/** What the page knows beside the messages. */
export interface PageState {
  agent: string;
  /** Whether the server has the conversation, which binds it to its agent. */
  bound: boolean;
  /** Where the newest snapshot stood in the stream. */
  sequence: number | undefined;
  runId: string | undefined;
  /** How the newest run stood when the page last asked. */
  runStatus: RunStatus | undefined;
  /** What that run waits for that is no person. */
  waitingFor: SessionEvent['run']['waitingFor'];
  /** When a run begins that was set to begin later, ms since the epoch. */
  startAt: number | undefined;
  /** The agent's own state, as the newest snapshot has it; null without any. */
  state: Readonly<Record<string, unknown>> | null;
  /** What people are asked, with the time they have. */
  pending: readonly PendingQuestion[];
  /** Messages that wait for their turn. */
  queue: readonly QueueEntry[];
  /** Who decided about approvals and when, by call: as the server has it, or `you` before it is read. */
  decided: Readonly<Record<string, Omit<CallDecision, 'toolCallId' | 'approved'>>>;
  /** Inputs that were changed here before they were approved, by call. */
  changed: Readonly<Record<string, unknown>>;
  whenBusy: WhenBusy;
  draft: string;
  /** Files of the message that is being written. */
  attachments: readonly Attachment[];
  notice: Notice | undefined;
  reconnecting: boolean;
  /** A run is active, by the newest word of the server. */
  following: boolean;
  stopping: boolean;
}

/** The smallest store that React can follow. */
export class PageStore {
  #state: PageState;
  readonly #listeners = new Set<() => void>();

  constructor(initial: Pick<PageState, 'agent'> & Partial<PageState>) {
    this.#state = {
      bound: false,
      sequence: undefined,
      runId: undefined,
      runStatus: undefined,
      waitingFor: undefined,
      startAt: undefined,
      state: null,
      pending: [],
      queue: [],
      changed: {},
      decided: {},
      whenBusy: 'queue',
      draft: '',
      attachments: [],
      notice: undefined,
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

  /** An approval was decided here, now. */
  readonly noteDecision = (toolCallId: string | undefined): void => {
    if (toolCallId === undefined) return;
    const here = { by: 'you', at: Date.now() };
    this.set({ decided: { ...this.#state.decided, [toolCallId]: here } });
  };

  /** What the server has of decisions, which names who it was. */
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

/** A file in the composer. */
export interface Attachment {
  /** Of this page. */
  key: string;
  name: string;
  /** Present once the server has it. */
  part?: FileUIPart | undefined;
  /** Why it cannot be sent, for people. */
  fault?: string | undefined;
}
