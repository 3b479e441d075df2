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
