import type { SubAgentEvent } from '../../ai-sdk/client/index.js';

/** What another agent wrote and did for one call, in order. */
export type ReportItem =
  | { kind: 'text'; text: string }
  | { kind: 'tool'; toolCallId: string; toolName: string; state: 'running' | 'done' | 'failed' };

/** A page stays quick however much an agent writes: the end is what people follow. */
const MOST_CHARS = 20_000;
const MOST_ITEMS = 200;
const RENDER_EVERY_MS = 60;
const NOTHING: readonly ReportItem[] = [];

/** What other agents do while they do it. Messages keep their results only, so a page that is loaded later has none. */
export class SubAgentReports {
  readonly #items = new Map<string, readonly ReportItem[]>();
  /** Where the newest step of a call begins. */
  readonly #stepAt = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  /** Takes the data parts of a reply. */
  readonly accept = (part: { type: string; data?: unknown }): void => {
    if (part.type === 'data-subagent-start') {
      // Also of a turn that is replayed from its beginning.
      const { callId } = part.data as { callId: string };
      this.#items.delete(callId);
      this.#stepAt.delete(callId);
    } else if (part.type === 'data-subagent-progress') {
      this.#add(part.data as SubAgentEvent);
    } else return;
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    }, RENDER_EVERY_MS);
  };

  readonly of = (callId: string): readonly ReportItem[] => this.#items.get(callId) ?? NOTHING;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #add(event: SubAgentEvent): void {
    const { callId } = event;
    const items = this.of(callId);
    if (event.kind === 'step') this.#stepAt.set(callId, items.length);
    else if (event.kind === 'discarded') {
      this.#items.set(callId, items.slice(0, this.#stepAt.get(callId) ?? 0));
    } else {
      const begin = this.#stepAt.get(callId) ?? 0;
      const next =
        event.kind === 'text' ? withText(items, begin, event.delta) : withTool(items, event);
      const surplus = Math.max(0, next.length - MOST_ITEMS);
      this.#items.set(callId, next.slice(surplus));
      this.#stepAt.set(callId, Math.max(0, begin - surplus));
    }
  }
}

/** Text continues where the step's last text ends. */
function withText(items: readonly ReportItem[], begin: number, delta: string): ReportItem[] {
  const last = items.at(-1);
  if (last?.kind !== 'text' || items.length <= begin)
    return [...items, { kind: 'text', text: delta }];
  return [...items.slice(0, -1), { kind: 'text', text: (last.text + delta).slice(-MOST_CHARS) }];
}

function withTool(
  items: readonly ReportItem[],
  { toolCallId, toolName, state }: Extract<SubAgentEvent, { kind: 'tool' }>,
): ReportItem[] {
  const item = { kind: 'tool', toolCallId, toolName, state } as const;
  const at = items.findIndex((each) => each.kind === 'tool' && each.toolCallId === toolCallId);
  return at === -1 ? [...items, item] : items.with(at, item);
}
