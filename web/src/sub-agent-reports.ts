import type { SubAgentEvent } from '../../ai-sdk/client/index.js';
import { addEvent, EMPTY, type Report, type ReportItem } from './report-items.js';

const RENDER_EVERY_MS = 60;

/** Reports that a page holds; those of the oldest calls are loaded again when they are opened. */
const MOST_CALLS = 50;

/** What other agents do, by call: as it is streamed, or as the server has it of calls that ended before. */
export class SubAgentReports {
  readonly #reports = new Map<string, Report>();
  readonly #listeners = new Set<() => void>();
  readonly #load: (callId: string) => Promise<readonly SubAgentEvent[]>;
  #isDue = false;

  /** @param load what the server has of a call that was not seen live */
  constructor(load: (callId: string) => Promise<readonly SubAgentEvent[]>) {
    this.#load = load;
  }

  /** Takes the data parts of a reply. */
  readonly accept = (part: { type: string; data?: unknown }): void => {
    if (part.type === 'data-subagent-start') {
      // Also of a turn that is replayed from its beginning.
      this.#reports.delete((part.data as { callId: string }).callId);
    } else if (part.type === 'data-subagent-progress') {
      this.#add(part.data as SubAgentEvent);
    } else return;
    this.#render();
  };

  readonly of = (callId: string): readonly ReportItem[] =>
    (this.#reports.get(callId) ?? EMPTY).items;

  /** Brings the report of a call that has ended. @throws Refusal, TypeError */
  readonly load = async (callId: string): Promise<void> => {
    const events = await this.#load(callId);
    this.#reports.delete(callId);
    for (const event of events) this.#add(event);
    this.#render();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #add(event: SubAgentEvent): void {
    const { callId } = event;
    const known = this.#reports.get(callId);
    this.#reports.set(callId, addEvent(known ?? EMPTY, event));
    if (known !== undefined || this.#reports.size <= MOST_CALLS) return;
    const [oldest] = this.#reports.keys();
    if (oldest !== undefined) this.#reports.delete(oldest);
  }

  #render(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    }, RENDER_EVERY_MS);
  }
}
