import { cjson, redis } from './host.js';
import type { Session } from './session.js';

/** What a transition has to know of a row. */
export interface RowHead {
  role: 'user' | 'assistant' | 'tool';
  /** Of a user's. */
  id?: string;
  hidden?: boolean;
  /** Of an assistant's. */
  messageId?: string;
  step?: number;
  /** Of a tool's. */
  toolCallId?: string;
  /** For history only. */
  display?: boolean;
}

/** Where that of a row begins which may be large; rows are stored with it behind everything else. */
const BODIES = [
  ',"parts":',
  ',"output":',
  ',"error":',
  ',"outputRef":',
  ',"denied":',
  ',"decision":',
  ',"events":',
];
/** More than any head has. */
const MOST_HEAD = 4_000;

/**
 * The beginning of a row. A quotation mark inside of a text is escaped, so the name of a field behind
 * a comma is found in no text. Rows of earlier releases may be in another order: they are decoded whole.
 */
export function readHead(row: string): RowHead {
  if (row.startsWith('{"role":')) {
    const start = row.slice(0, MOST_HEAD);
    let end = -1;
    for (const body of BODIES) {
      const at = start.indexOf(body);
      if (at >= 0 && (end < 0 || at < end)) end = at;
    }
    const head = end < 0 ? undefined : decodeHead(`${start.slice(0, end)}}`);
    if (head !== undefined && isWhole(head)) return head;
  }
  return cjson.decode(row) as RowHead;
}

/** Undefined where such a name stands in something of the row, in one of an earlier release. */
function decodeHead(json: string): RowHead | undefined {
  try {
    return cjson.decode(json) as RowHead;
  } catch {
    return undefined;
  }
}

function isWhole({ role, id, hidden, messageId, step, toolCallId }: RowHead): boolean {
  if (role === 'user') return id !== undefined && hidden !== undefined;
  if (role === 'tool') return toolCallId !== undefined;
  return messageId !== undefined && step !== undefined;
}

const TOOL_ROW = '{"role":"tool",';

/** A call's row as the conversation's history shows it. */
export function forDisplay(row: string): string {
  if (!row.startsWith(TOOL_ROW)) return `{"display":true,${row.slice(1)}`;
  return `${TOOL_ROW}"display":true,${row.slice(TOOL_ROW.length)}`;
}

/** Heads of some rows, by index; `to` is inclusive. */
export function readHeads(session: Session, from: number, to: number): RowHead[] {
  const heads: RowHead[] = [];
  for (const row of redis.call('LRANGE', session.rows, from, to)) heads.push(readHead(row));
  return heads;
}
