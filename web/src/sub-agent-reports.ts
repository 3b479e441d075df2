import type { SubAgentEvent } from '../../ai-sdk/client/index.js';

/** The agent and step of an item: several sub-agents of one call may write in turn. */
interface Written {
  agentId: string;
  agent: string;
  step: number;
}

/** A text or an act of a sub-agent. */
export type ReportItem = Written &
  (
    | { kind: 'text'; text: string }
    | { kind: 'tool'; toolCallId: string; toolName: string; state: 'running' | 'done' | 'failed' }
  );

/** The items of one call, in the order in which they began. */
export interface Report {
  items: readonly ReportItem[];
  /** Newest step number by agent id. */
  steps: ReadonlyMap<string, number>;
}

/** These limits keep the page fast; the end of a long report is the part that people follow. */
export const MAX_CHARS = 20_000;
export const MAX_ITEMS = 200;

export const EMPTY: Report = { items: [], steps: new Map() };

/** Returns the report with one more event. Pure. */
export function addEvent({ items, steps }: Report, event: SubAgentEvent): Report {
  const { agentId, agent } = event;
  const step = steps.get(agentId) ?? 0;
  const by = { agentId, agent, step };
  switch (event.kind) {
    case 'step':
      return { items, steps: new Map(steps).set(agentId, step + 1) };
    case 'discarded':
      return { steps, items: items.filter((item) => item.agentId !== agentId || item.step < step) };
    case 'text':
      return { steps, items: toBounds(withText(items, by, event.delta)) };
    case 'tool': {
      const { kind, toolCallId, toolName, state } = event;
      return {
        steps,
        items: toBounds(withTool(items, { ...by, kind, toolCallId, toolName, state })),
      };
    }
  }
}

/** Appends to the newest text of the agent's step, unless that agent has acted since then. */
function withText(items: readonly ReportItem[], by: Written, delta: string): ReportItem[] {
  const at = items.findLastIndex(({ agentId }) => agentId === by.agentId);
  const last = items[at];
  if (last?.kind !== 'text' || last.step !== by.step)
    return [...items, { ...by, kind: 'text', text: delta }];
  return items.with(at, { ...last, text: last.text + delta });
}

function withTool(
  items: readonly ReportItem[],
  item: Extract<ReportItem, { kind: 'tool' }>,
): ReportItem[] {
  const at = items.findIndex(
    (each) =>
      each.kind === 'tool' && each.toolCallId === item.toolCallId && each.agentId === item.agentId,
  );
  return at === -1 ? [...items, item] : items.with(at, item);
}

/** Drops the oldest items, then the beginnings of the oldest texts. */
function toBounds(items: ReportItem[]): ReportItem[] {
  const kept = items.length > MAX_ITEMS ? items.slice(-MAX_ITEMS) : items;
  let surplus = -MAX_CHARS;
  for (const item of kept) if (item.kind === 'text') surplus += item.text.length;
  if (surplus <= 0) return kept;
  return kept.flatMap((item) => {
    if (item.kind !== 'text' || surplus <= 0) return item;
    const text = item.text.slice(surplus);
    surplus -= item.text.length - text.length;
    return text === '' ? [] : { ...item, text };
  });
}

const RENDER_EVERY_MS = 60;

/** The page keeps this many reports; those of the oldest calls are loaded again when opened. */
const MAX_CALLS = 50;

/** Reports of sub-agents by call: from the stream, or loaded for calls that ended earlier. */
export class SubAgentReports {
  readonly #reports = new Map<string, Report>();
  readonly #listeners = new Set<() => void>();
  readonly #load: (callId: string) => Promise<readonly SubAgentEvent[]>;
  #isDue = false;

  /** @param load reads the events of a call that was not seen live */
  constructor(load: (callId: string) => Promise<readonly SubAgentEvent[]>) {
    this.#load = load;
  }

  /** Adds the data parts of a reply. */
  readonly accept = (part: { type: string; data?: unknown }): void => {
    if (part.type === 'data-subagent-start') {
      // A replayed turn starts its reports afresh.
      this.#reports.delete((part.data as { callId: string }).callId);
    } else if (part.type === 'data-subagent-progress') {
      this.#add(part.data as SubAgentEvent);
    } else return;
    this.#render();
  };

  readonly of = (callId: string): readonly ReportItem[] =>
    (this.#reports.get(callId) ?? EMPTY).items;

  /** Loads the report of an ended call. @throws Refusal, TypeError */
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
    if (known !== undefined || this.#reports.size <= MAX_CALLS) return;
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
