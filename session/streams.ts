import { type Entry } from './fields.js';
import { tryParseJson } from '../protocol/limits.js';
import { type StreamStatus, isTerminal } from '../protocol/run.js';
import { armExpiry } from './finish.js';
import { newRecord } from './record.js';
import { writeControl, withRaw } from './chunks.js';
import { persist } from './turns.js';
import type { Session } from './tree.js';
import { isActive, own, owns, writeDiscarded, withdraw } from './writers.js';
import type { WriterInput } from './input.js';

/**
 * Makes an attempt the owner of a writer name that belongs to no run, and withdraws the entries of attempts with lower
 * tokens. Creates the stream if needed and reopens an ended one. Only a session's runs can reopen its stream.
 */
export function openWriter(
  session: Session,
  { writer, nonce, now }: { writer: Omit<WriterInput, 'runId'>; nonce: string; now: number },
): { kind: 'opened'; sequence: number } | { kind: 'fenced' | 'ended' } {
  const { name, token, agentType, step } = writer;
  const { log } = session.tree;
  const before = session.writer(name);
  if (before?.token === token && before.nonce === nonce)
    return { kind: 'opened', sequence: log.sequence };
  if (before !== undefined && before.token >= token) return { kind: 'fenced' };
  const { record } = session;
  const rests = record?.stream !== 'active' && record?.stream !== 'paused';
  if (rests && record?.agent !== undefined) return { kind: 'ended' };
  if (record === undefined) session.record = newRecord(now);
  if (before !== undefined) {
    const { removed } = withdraw(session, name);
    const author = { agentId: writer.agentId ?? session.id, agentType, step, timestamp: now };
    writeDiscarded(session, author, 'attempt_lost', removed);
  }
  own(session, name, token);
  const owned = session.writer(name);
  if (owned !== undefined) owned.nonce = nonce;
  if (rests) {
    const { existing } = session;
    existing.stream = 'active';
    existing.updated = now;
    delete existing.streamError;
    if (existing.sizes.controls > 0 && log.count === 0) existing.sizes.controls = 0;
    persist(session);
  }
  return { kind: 'opened', sequence: log.sequence };
}

/** Releases a writer that belongs to no run. Its entries stay: no later attempt withdraws them. */
export function closeWriter(
  session: Session,
  { name, token }: { name: string; token: number },
): { kind: 'closed' | 'fenced' } {
  const owner = session.writer(name)?.token;
  if (owner !== undefined && owner !== token) return { kind: 'fenced' };
  session.dropWriter(name);
  return { kind: 'closed' };
}

interface Mark {
  status: StreamStatus;
  error?: string;
  /** As JSON. */
  finalOutput?: string;
  now: number;
}

/** Pauses, resumes or ends a stream that belongs to no run. The first end counts. */
export function mark(
  session: Session,
  { status, error, finalOutput, now }: Mark,
): { kind: 'marked' | 'unchanged' | 'owned' | 'not_found' } {
  const { record } = session;
  if (record?.stream === undefined) return { kind: 'not_found' };
  if (record.agent !== undefined && !isTerminal(record.run.status)) return { kind: 'owned' };
  const isOver = record.stream === 'ended' || record.stream === 'failed';
  if (isOver || record.stream === status) return { kind: 'unchanged' };
  const ends = status === 'ended' || status === 'failed';
  const about = { streamId: session.tree.conversationId, timestamp: now };
  const end = { ...about, status: status === 'ended' ? 'completed' : status, error };
  const message = ends
    ? withRaw(JSON.stringify({ type: 'stream_end', ...end }), { finalOutput })
    : JSON.stringify({ type: 'stream_status', ...about, status });
  writeControl(session, message);
  record.stream = status;
  record.updated = now;
  if (ends) {
    if (error !== undefined) record.streamError = error;
    session.dropWriters();
    armExpiry(session);
  }
  return { kind: 'marked' };
}

/** Removes chunks of steps above a bound, of one agent if it is named, and informs attached readers. */
export function truncate(
  session: Session,
  { step, after, agentId, now }: { step: number; after: number; agentId?: string; now: number },
): { removed: number; lastRemoved: number; atSequence: number } {
  const { log, conversationId } = session.tree;
  const atSequence = log.sequence;
  const gone = log.after(after, Infinity).filter((entry) => {
    const place = placeOf(entry, conversationId);
    if (place === undefined || place.step <= step) return false;
    return agentId === undefined || place.agentId === agentId;
  });
  log.remove(gone);
  const lastRemoved = gone.at(-1)?.[0] ?? 0;
  if (gone.length > 0) {
    const about = { streamId: conversationId, timestamp: now };
    const cut = { truncatedAtStep: step, atSequence, lastRemoved };
    writeControl(session, JSON.stringify({ type: 'stream_truncated', ...about, ...cut }));
  }
  return { removed: gone.length, lastRemoved, atSequence };
}

/** Returns the agent and step of an entry; undefined for an entry that this runtime did not write. */
function placeOf([, , message]: Entry, conversationId: string) {
  const parsed = tryParseJson(message);
  if (Array.isArray(parsed)) {
    const [, , step, , , part] = parsed as unknown[];
    const agentId = typeof part === 'string' ? `${conversationId}.${part}` : conversationId;
    return typeof step === 'number' ? { agentId, step } : undefined;
  }
  const { agentId, step } = (parsed ?? {}) as { agentId?: string; step?: unknown };
  return typeof step === 'number' ? { agentId: agentId ?? '', step } : undefined;
}

interface NewPage {
  writer: Pick<WriterInput, 'runId' | 'name' | 'token'>;
  from: number;
  to: number;
  /** JSON, with adjacent deltas joined. */
  entries: string;
}

/** Keeps a page of the running step in the form of a replay, so viewers who join later need not read each delta. */
export function keepPage(
  session: Session,
  { writer, from, to, entries }: NewPage,
): { kind: 'kept' | 'superseded' | 'fenced' } {
  if (!isActive(session, writer.runId)) return { kind: 'superseded' };
  if (!owns(session, writer)) return { kind: 'fenced' };
  session.tree.write('page', from, to, entries);
  return { kind: 'kept' };
}
