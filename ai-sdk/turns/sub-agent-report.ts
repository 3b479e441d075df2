import { FINISH_TOOL_NAME, toShownSessionId } from '../../protocol/ids.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import type { SubAgentEvent } from '../../protocol/http.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';

/** Longest text of a report, in characters; its end is enough to read what was done. */
const MAX_CHARS = 20_000;
const MAX_EVENTS = 500;
/** Newest rows that are read of one transcript; each step has at least one row. */
const MAX_ROWS = 100;

/**
 * Reads what sub-agents did for a call of a conversation from their transcripts, for pages that
 * load after the live events. Empty for calls that no sub-agent carried out.
 */
export async function readSubAgentReport(
  { sessions }: Pick<Store, 'sessions'>,
  sessionId: string,
  callId: string,
): Promise<SubAgentEvent[]> {
  const [top] = await carriersOf(sessionId, [callId]);
  return top === undefined ? [] : toEnd(await reportOf(top));

  async function reportOf(child: SessionRecord): Promise<SubAgentEvent[]> {
    const about = { callId, agentId: toShownSessionId(child.sessionId), agent: child.agent };
    const rows = await sessions.rows(child.sessionId, -MAX_ROWS);
    const results = new Map(
      rows.flatMap((row) => (row.role === 'tool' ? [[row.toolCallId, row]] : [])),
    );
    const calls = rows.flatMap(callsOf);
    const below = new Map(
      (await carriersOf(child.sessionId, calls)).map((each) => [each.parent?.toolCallId, each]),
    );
    const events: SubAgentEvent[] = [];
    for (const row of rows) {
      if (row.role !== 'assistant' || row.display === true) continue;
      events.push({ ...about, kind: 'step' });
      for (const part of row.parts) {
        if (part.type === 'text') events.push({ ...about, kind: 'text', delta: part.text });
        if (part.type !== 'tool-call' || part.toolName === FINISH_TOOL_NAME) continue;
        const state = toState(results.get(part.toolCallId), child);
        const { toolCallId, toolName } = part;
        events.push({ ...about, kind: 'tool', toolCallId, toolName, state });
        const carrier = below.get(toolCallId);
        if (carrier !== undefined) events.push(...(await reportOf(carrier)));
      }
    }
    return events;
  }

  /** Returns the records of the sub-agents that carry out, or carried out, these calls. */
  async function carriersOf(parentId: string, calls: string[]): Promise<SessionRecord[]> {
    const ids = await sessions.carriers(parentId, calls);
    const records = await Promise.all(
      ids.map((id) => (id === undefined ? Promise.resolve(undefined) : sessions.read(id))),
    );
    return records.filter((record, at): record is SessionRecord => {
      const { sessionId: from, toolCallId } = record?.parent ?? {};
      return from === parentId && toolCallId === calls[at];
    });
  }
}

function callsOf(row: Row): string[] {
  if (row.role !== 'assistant') return [];
  return row.parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
}

function toState(
  result: ToolRow | undefined,
  { status }: SessionRecord,
): 'running' | 'done' | 'failed' {
  if (result === undefined) return isTerminal(status) ? 'failed' : 'running';
  return result.error !== undefined || result.denied === true ? 'failed' : 'done';
}

/** Keeps as many of the newest events as a page shows and cuts their oldest text. */
function toEnd(events: readonly SubAgentEvent[]): SubAgentEvent[] {
  const end: SubAgentEvent[] = [];
  let room = MAX_CHARS;
  for (const event of events.slice(-MAX_EVENTS).reverse()) {
    if (event.kind !== 'text') end.push(event);
    else if (room > 0) {
      const delta = event.delta.slice(-room);
      room -= delta.length;
      end.push({ ...event, delta });
    }
  }
  return end.reverse();
}
