import { formatInt, redis, toNumber } from './host.js';
import type { Session } from './session.js';

/** Fields of a session's root hash: the session and its newest run. */
export type RootField =
  | (
      | 'agent'
      | 'owner'
      | 'tenant'
      | 'created'
      | 'born'
      | 'updated'
      | 'uiCount'
      | 'queued'
      | 'replied'
    )
  | 'askers'
  | ('run' | 'runN' | 'mode' | 'by' | 'started' | 'runSeq' | 'fromStep' | 'usage' | 'finishReason')
  | ('status' | 'stop' | 'error' | 'interrupted' | 'output' | 'outputRef' | 'resume' | 'taken')
  | 'release'
  | ('turn' | 'messageId' | 'turnSeq' | 'turnRow' | 'turnV' | 'snapTurn' | 'snapAt' | 'rewound')
  | ('claimed' | 'committed' | 'outcome' | 'checkpoint' | 'checkpointV' | 'stateV')
  | ('seq' | 'pauseSeq' | 'stream' | 'streamError' | 'controls' | 'turnControls')
  | ('parent' | 'parentRun' | 'parentCall' | 'rootRun' | 'children' | 'limit' | 'deadline')
  | ('waitsUntil' | 'bytes' | 'logBytes' | 'logTurn' | 'counted' | 'spent' | 'model')
  | ('legs' | 'legAt' | 'legUsed')
  | ('stateBy' | 'keptV' | 'branching' | 'layout' | 'openSeq');

export type Root<Field extends RootField = RootField> = Record<Field, string | undefined>;

/**
 * Some fields of a session's root hash: not all of them, since it may hold a result of a megabyte. A
 * transition reads each field once; changes show in what was read before.
 */
export function readRoot<Field extends RootField>(
  session: Session,
  names: readonly Field[],
): Root<Field> {
  const { known } = session;
  const { fields, absent } = known;
  if (known.isNew) {
    known.isNew = false;
    known.first = names;
    note(session, names);
    return fields as Root<Field>;
  }
  if (known.first === names) return fields as Root<Field>;
  let unknown: string[] | undefined;
  for (const name of names) {
    if (fields[name] === undefined && absent[name] === undefined) {
      unknown ??= [];
      unknown.push(name);
    }
  }
  if (unknown !== undefined) note(session, unknown);
  return fields as Root<Field>;
}

function note({ root, known }: Session, names: readonly string[]): void {
  const { fields, absent } = known;
  const values = redis.call('HMGET', root, ...names);
  for (let at = 0; at < names.length; at += 1) {
    const value = values[at] as string | false;
    if (value === false) absent[names[at] as string] = true;
    else fields[names[at] as string] = value;
  }
}

export function readField(session: Session, name: RootField): string | undefined {
  const { fields, absent } = session.known;
  const value = fields[name];
  if (value !== undefined || absent[name] === true) return value;
  const stored = redis.call('HGET', session.root, name);
  session.known.isNew = false;
  if (stored === false) {
    absent[name] = true;
    return undefined;
  }
  fields[name] = stored;
  return stored;
}

/** Changes fields, given as names and values in turn; they are stored with the transition's others. */
export function setFields(session: Session, changes: readonly string[]): void {
  const { known } = session;
  const { fields, changed } = known;
  known.isNew = false;
  const count = changes.length;
  let end = changed.length;
  for (let at = 0; at < count; at += 2) {
    const name = changes[at] as string;
    const value = changes[at + 1] as string;
    fields[name] = value;
    changed[end] = name;
    changed[end + 1] = value;
    end += 2;
  }
}

/**
 * As setFields, for a list that the caller does not keep: it becomes the one that is stored, so the longest
 * list of a transition is not copied.
 */
export function giveFields(session: Session, changes: string[]): void {
  const { known } = session;
  const { fields, changed } = known;
  const count = changes.length;
  if (changed.length > count) {
    setFields(session, changes);
    return;
  }
  known.isNew = false;
  known.changed = changes;
  for (let at = 0; at < count; at += 2) {
    fields[changes[at] as string] = changes[at + 1];
  }
  let end = count;
  for (let at = 0; at < changed.length; at += 2) {
    const value = changed[at + 1] as string;
    // Otherwise it is changed again.
    if (fields[changed[at] as string] === value) {
      changes[end] = changed[at] as string;
      changes[end + 1] = value;
      end += 2;
    }
  }
}

/** Removes fields. */
export function dropFields(
  session: Session,
  names: readonly (RootField | `wake:${string}`)[],
): void {
  const { known } = session;
  const { fields, absent, dropped } = known;
  known.isNew = false;
  for (const name of names) {
    if (fields[name] !== undefined || absent[name] === undefined) {
      fields[name] = undefined;
      absent[name] = true;
      dropped.push(name);
    }
  }
}

/** Adds to a field that counts. */
export function addToField(session: Session, name: RootField, more: number): void {
  setFields(session, [name, formatInt(num(readField(session, name)) + more)]);
}

/** Stores what the transition has changed of the root hashes of a conversation. */
export function writeRoots({ conversation }: Session): void {
  writeRoot(conversation);
  for (const name in conversation.below) writeRoot(conversation.below[name] as Session);
}

/** The same for one session, where the hash has to be there before the end. */
export function writeRoot({ root, known }: Session): void {
  const { fields, changed, dropped } = known;
  if (changed.length > 0) {
    redis.call('HSET', root, ...changed);
    known.changed = [];
  }
  if (dropped.length === 0) return;
  known.dropped = [];
  const gone: string[] = [];
  // What was changed after it had been removed is there.
  for (const name of dropped) if (fields[name] === undefined) gone.push(name);
  if (gone.length > 0) redis.call('HDEL', root, ...gone);
}

/** The hash is gone, and what was to be changed of it with it. */
export function forgetRoot({ known }: Session): void {
  known.changed = [];
  known.dropped = [];
}

/** The sequence, and the status of the stream, are the conversation's. */
export function seqOf({ conversation }: Session): string | undefined {
  return readField(conversation, 'seq');
}

export function isPaused({ conversation }: Session): boolean {
  return readField(conversation, 'stream') === 'paused';
}

/** A stored whole number; 0 if absent. */
export function num(value: string | undefined): number {
  return value === undefined ? 0 : toNumber(value);
}

export function isTerminal(status: string | undefined): boolean {
  return (
    status === 'completed' ||
    status === 'failed' ||
    status === 'interrupted' ||
    status === 'aborted'
  );
}

/** True while a run is active or waits. */
export function isLive(status: string | undefined): boolean {
  return status !== undefined && !isTerminal(status);
}

/**
 * Milliseconds since the epoch by Redis' clock: deadlines do not depend on the clocks of callers.
 */
export function storeNow(): number {
  const [seconds, microseconds] = redis.call('TIME');
  return toNumber(seconds) * 1000 + Math.floor(toNumber(microseconds) / 1000);
}
