import type { SubAgentEvent } from '../../ai-sdk/client/index.js';

/** Which agent wrote it, and in which of its steps: sub-agents of one call write in turn. */
interface Written {
  agentId: string;
  agent: string;
  step: number;
}

/** What another agent wrote or did for one call. */
export type ReportItem = Written &
  (
    | { kind: 'text'; text: string }
    | { kind: 'tool'; toolCallId: string; toolName: string; state: 'running' | 'done' | 'failed' }
  );

/** What is known of one call, in the order in which it began. */
export interface Report {
  items: readonly ReportItem[];
  /** Number of the newest step of each agent. */
  steps: ReadonlyMap<string, number>;
}

/** A page stays quick however much agents write for a call: the end is what people follow. */
export const MOST_CHARS = 20_000;
export const MOST_ITEMS = 200;

export const EMPTY: Report = { items: [], steps: new Map() };

/** The report with one more event. Pure. */
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

/** Text continues where the newest text of the agent's step ends, unless that agent has done something since. */
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

/** The oldest items go first, then the beginning of the oldest texts. */
function toBounds(items: ReportItem[]): ReportItem[] {
  const kept = items.length > MOST_ITEMS ? items.slice(-MOST_ITEMS) : items;
  let surplus = -MOST_CHARS;
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
