/** A line for the person: what went wrong, and whether trying again makes sense. */
export interface Notice {
  text: string;
  retry: boolean;
}

/** What the page knows beside the messages. */
export interface PageState {
  agent: string;
  /** Whether the server has the conversation, which binds it to its agent. */
  bound: boolean;
  /** Where the newest snapshot stood in the stream. */
  sequence: number | undefined;
  runId: string | undefined;
  draft: string;
  notice: Notice | undefined;
  reconnecting: boolean;
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
      draft: '',
      notice: undefined,
      reconnecting: false,
      stopping: false,
      ...initial,
    };
  }

  readonly get = (): PageState => this.#state;

  readonly set = (change: Partial<PageState>): void => {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
