import { cjson, formatInt, redis } from './host.js';
import type { Session } from './session.js';

/** The fields of a row that transitions read. */
export interface RowHead {
  role: 'user' | 'assistant' | 'tool';
  /** Of a user row. */
  id?: string;
  hidden?: boolean;
  /** Of an assistant row. */
  messageId?: string;
  step?: number;
  /** Of a tool row. */
  toolCallId?: string;
  /** Only for history; the model does not get it. */
  display?: boolean;
}

/** Field names at which the large part of a row begins; rows are stored with it last. */
const BODIES = [
  ',"parts":',
  ',"output":',
  ',"error":',
  ',"outputRef":',
  ',"denied":',
  ',"decision":',
  ',"events":',
];
/** Longer than any head. */
const MOST_HEAD = 4_000;

/**
 * Reads the head of a row without decoding the rest. Quotation marks inside strings are escaped, so
 * a field name after a comma never matches inside a string.
 */
export function readHead(row: string): RowHead {
  const start = row.slice(0, MOST_HEAD);
  let end = -1;
  for (const body of BODIES) {
    const at = start.indexOf(body);
    if (at >= 0 && (end < 0 || at < end)) end = at;
  }
  return cjson.decode(end < 0 ? row : `${start.slice(0, end)}}`) as RowHead;
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
  for (const row of redis.call('LRANGE', session.rows, formatInt(from), formatInt(to)))
    heads.push(readHead(row));
  return heads;
}
