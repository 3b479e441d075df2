import { FINISH_TOOL_NAME, toShownSessionId } from '../../protocol/ids.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import type { SubAgentEvent } from '../../protocol/sub-agent-event.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import type { Store } from '../../stores/contract/store.js';

/** The end of a report is enough to read what was done. */
const MOST_CHARS = 20_000;
const MOST_EVENTS = 500;
/** Rows of one transcript, the newest: a step is a row at least. */
const MOST_ROWS = 100;
/** Records that are read at once. */
const READ_AT_ONCE = 100;

/**
 * What sub-agents did for a call of a conversation, from their transcripts: what a reader saw live, for
 * pages that are loaded later. Empty for calls that no sub-agent carried out.
 */
export async function readSubAgentReport(
  { sessions }: Pick<Store, 'sessions'>,
  sessionId: string,
  callId: string,
): Promise<SubAgentEvent[]> {
  const carriers = await findCarriers(sessions, sessionId);
  const top = carriers.get(keyOf(sessionId, callId));
  return top === undefined ? [] : toEnd(await reportOf(top));

  async function reportOf(child: SessionRecord): Promise<SubAgentEvent[]> {
    const about = { callId, agentId: toShownSessionId(child.sessionId), agent: child.agent };
    const rows = await sessions.rows(child.sessionId, -MOST_ROWS);
    const results = new Map(rows.flatMap((row) => (isResult(row) ? [[row.toolCallId, row]] : [])));
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
        const below = carriers.get(keyOf(child.sessionId, toolCallId));
        if (below !== undefined) events.push(...(await reportOf(below)));
      }
    }
    return events;
  }
}

/** The newest session for each call that a sub-agent carries or carried out. */
async function findCarriers(
  sessions: Store['sessions'],
  sessionId: string,
): Promise<Map<string, SessionRecord>> {
  const ids = await sessions.children(sessionId);
  const carriers = new Map<string, SessionRecord>();
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const records = await Promise.all(
      ids.slice(at, at + READ_AT_ONCE).map((id) => sessions.read(id)),
    );
    for (const record of records) {
      if (record?.parent === undefined) continue;
      const key = keyOf(record.parent.sessionId, record.parent.toolCallId);
      const known = carriers.get(key);
      if (known === undefined || known.createdAt <= record.createdAt) carriers.set(key, record);
    }
  }
  return carriers;
}

function keyOf(sessionId: string, toolCallId: string): string {
  return `${sessionId} ${toolCallId}`;
}

function isResult(row: Row): row is ToolRow {
  return row.role === 'tool' && row.display !== true;
}

function toState(
  result: ToolRow | undefined,
  { status }: SessionRecord,
): 'running' | 'done' | 'failed' {
  if (result === undefined) return isTerminal(status) ? 'failed' : 'running';
  return result.error !== undefined || result.denied === true ? 'failed' : 'done';
}

/** As many of the newest events as a page shows, the oldest text of them cut. */
function toEnd(events: readonly SubAgentEvent[]): SubAgentEvent[] {
  const end: SubAgentEvent[] = [];
  let room = MOST_CHARS;
  for (const event of events.slice(-MOST_EVENTS).reverse()) {
    if (event.kind !== 'text') end.push(event);
    else if (room > 0) {
      const delta = event.delta.slice(-room);
      room -= delta.length;
      end.push({ ...event, delta });
    }
  }
  return end.reverse();
}
