import { byteLength, formatInt, redis } from './host.js';
import { readCall } from './calls.js';
import { int, list, withField } from './json.js';
import { contentAt, type Content, type WriterRequest } from './request.js';
import { num, seqOf } from './root.js';
import type { Session } from './session.js';
import { stageChanges } from './staging.js';

/**
 * The journal of a call: what it has done so far, so that its tool can be executed again from the
 * beginning without doing it twice. Fields of the call: `op<n>:<id>`, the n-th operation as JSON, ''
 * while it is carried out, FAILED if it threw · `op<n>Call:<id>`, the call that it waits for.
 */
export interface Journal {
  /** Each operation as JSON; FAILED for one that was begun and has no result. */
  operations: string[];
  /** True if the tool was in the middle of a step when its attempt was lost. */
  isInStep: boolean;
}

export function readJournal(session: Session, id: string, count: number): Journal {
  const journal: Journal = { operations: [], isInStep: false };
  if (count === 0) return journal;
  const values = redis.call('HMGET', session.calls, ...journalFields(id, count));
  for (let n = 0; n < count; n += 1) {
    const operation = values[n * 2];
    const wait = values[n * 2 + 1];
    if (typeof operation !== 'string' || operation === '') {
      journal.isInStep = true;
      journal.operations.push(FAILED);
    } else if (typeof wait === 'string') {
      const { row } = readCall(session, wait, ['row']);
      journal.operations.push(withField(operation, 'row', row));
    } else {
      journal.operations.push(operation);
    }
  }
  return journal;
}

/** The journal as a list in JSON. */
export function journalJson({ operations }: Journal): string {
  return list(operations);
}

/** Names of the fields of a journal. */
export function journalFields(id: string, count: number): string[] {
  const names: string[] = [];
  for (let n = 0; n < count; n += 1) names.push(`op${int(n)}:${id}`, `op${int(n)}Call:${id}`);
  return names;
}

/** A step that threw; the tool carries it out again when it is executed again. */
export const FAILED = 'null';

/** Adds an operation. */
export function addOperation(session: Session, id: string, at: number, operation: string): void {
  const { ops, opBytes } = readCall(session, id, ['ops', 'opBytes']);
  const bytes = formatInt(num(opBytes) + byteLength(operation));
  const count = formatInt(Math.max(num(ops), at + 1));
  const fields = [`op${int(at)}:${id}`, operation, `ops:${id}`, count, `opBytes:${id}`, bytes];
  redis.call('HSET', session.calls, ...fields);
}

/**
 * What the attempt has emitted and changed up to now stays if the attempt is lost: the operation
 * that was recorded comes after it.
 */
export function seal(
  session: Session,
  { name, step }: WriterRequest,
  id: string,
  at: number,
  changes: Content | undefined,
  args: readonly string[],
): void {
  if (changes !== undefined) {
    stageChanges(session, `s${int(step)}.${int(at)}`, id, contentAt(args, changes));
  }
  const noted = redis.call('HGET', session.writers, `e:${name}`);
  const kept: string[] = [];
  // The changes of the state are staged, so nothing takes them back.
  for (const note of noted === false ? [] : noted.split(' ')) {
    if (note.startsWith('c')) kept.push(note);
  }
  const notes = kept.join(' ');
  redis.call('HSET', session.calls, `sealed:${id}`, notes);
  redis.call('HSET', session.writers, `e:${name}`, notes, `f:${name}`, seqOf(session) ?? '0');
}
