import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import type { Projection } from '../../../../stores/memory/keyspace/fingerprint.js';
import { RUNS, SESSION } from '../plan.js';
import { keysOf } from '../requests/request.js';
import { textsByWriter } from './texts-by-writer.js';

/**
 * The parts of a record that decide its future; two records that differ in nothing else are one. Left out
 * are clocks, absolute sequences, and what transitions write and never decide by (rows, log, ended runs).
 * Invariants check those parts after each transition, before the record is merged with others.
 */
const UNREAD = new Set([
  ...['rows', 'checkpoints', 'runs', 'places', 'results', 'rewinds', 'stream', 'states'],
]);

const ROOT_UNREAD = new Set([
  ...['created', 'started', 'updated', 'born', 'seq', 'turnSeq', 'runSeq', 'pauseSeq', 'openSeq'],
  // How much is stored.
  ...['bytes', 'logBytes', 'logTurn'],
  ...['turnRow', 'uiCount', 'messageId', 'usage', 'finishReason', 'error', 'interrupted', 'by'],
  ...['controls', 'turnControls', 'checkpoint'],
]);

const CALL_UNREAD = new Set(['spec', 'part', 'brief', 'ref', 'automatic', 'lapsedAt', 'name']);
/** The other fields of a settled call are never read again. */
const SETTLED_READ = new Set(['state', 'asked', 'told', 'late']);
/** Fields whose values do not matter, only that they are set. */
const CALL_MARKS = new Set(['asked', 'row', 'decision', 'ask']);

const WRITER_READ = new Set(['t', 'b', 'w', 'fails']);

export const project: Projection = (key, value, type) => {
  const name = key.slice(key.lastIndexOf(':') + 1);
  if (UNREAD.has(name)) return undefined;
  if (type !== 'hash') return value;
  const fields = value as [string, string][];
  if (name === 'root') return fields.flatMap(projectRoot);
  if (name === 'calls') return projectCalls(fields);
  if (name === 'writers') return fields.filter(([field]) => WRITER_READ.has(prefixOf(field)));
  return fields;
};

function projectRoot([field, text]: [string, string]): [string, string][] {
  if (ROOT_UNREAD.has(field)) return [];
  if (field === 'status' && (text === 'completed' || text === 'failed')) return [[field, 'ended']];
  if (field === 'stream' && (text === 'ended' || text === 'failed')) return [[field, 'over']];
  return [[field, text]];
}

function projectCalls(fields: [string, string][]): [string, string][] {
  const settled = new Set<string>();
  for (const [field, text] of fields) {
    if (text === 'settled' && field.startsWith('state:')) settled.add(field.slice(6));
  }
  return fields.flatMap(([field, text]): [string, string][] => {
    const what = prefixOf(field);
    if (CALL_UNREAD.has(what)) return [];
    if (!SETTLED_READ.has(what) && settled.has(field.slice(what.length + 1))) return [];
    return [[field, CALL_MARKS.has(what) ? '' : text]];
  });
}

function prefixOf(field: string): string {
  const colon = field.indexOf(':');
  return colon < 0 ? field : field.slice(0, colon);
}

/** What each open writer has in the log: it may yet be withdrawn, and a wrong claim leaves some of it. */
export function openTexts(keyspace: Keyspace): string {
  const writers = [SESSION, RUNS.sub.sessionId].flatMap((sessionId) => {
    const fields = keyspace.call('HKEYS', keysOf(sessionId).writers) as string[];
    return fields.filter((field) => field.startsWith('t:'));
  });
  if (writers.length === 0) return '';
  const texts = textsByWriter(keyspace);
  let open = '';
  for (const field of writers) {
    const text = texts.get(field.slice(2));
    if (text !== undefined) open += `${field} ${text}\n`;
  }
  return open;
}
