import { redis, toNumber } from './host.js';
import { isConversation, type Session } from './session.js';

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
  | ('run' | 'runN' | 'mode' | 'by' | 'started' | 'runSeq' | 'fromStep' | 'usage' | 'finishReason')
  | ('status' | 'stop' | 'error' | 'interrupted' | 'output' | 'outputRef' | 'resume' | 'taken')
  | ('turn' | 'messageId' | 'turnSeq' | 'turnRow' | 'turnV' | 'snapTurn' | 'snapAt' | 'rewound')
  | ('claimed' | 'committed' | 'outcome' | 'checkpoint' | 'checkpointV' | 'stateV')
  | ('seq' | 'pauseSeq' | 'stream' | 'streamError' | 'controls' | 'turnControls')
  | ('parent' | 'parentRun' | 'parentCall' | 'rootRun' | 'children' | 'limit' | 'deadline')
  | ('waitsUntil' | 'bytes' | 'logBytes' | 'logTurn' | 'counted')
  | ('stateBy' | 'keptV' | 'branching' | 'layout' | 'childrenExpire' | 'openSeq' | 'placed');

export type Root<Field extends RootField = RootField> = Record<Field, string | undefined>;

/** Reads only the named fields of a root hash, which may also hold a result of a megabyte. */
export function readRoot<Field extends RootField>(
  session: Session,
  names: readonly Field[],
): Root<Field> {
  const values = redis.call('HMGET', session.root, ...names);
  const root = {} as Root<Field>;
  for (let at = 0; at < names.length; at += 1) {
    const value = values[at] as string | false;
    if (value !== false) root[names[at] as Field] = value;
  }
  return root;
}

/**
 * Adds sequence and stream status, which belong to the conversation, to the fields that were read
 * from a session.
 */
export function addShared(session: Session, read: Root<'seq' | 'stream'>): void {
  if (isConversation(session)) return;
  const { seq, stream } = readRoot(session.conversation, ['seq', 'stream']);
  read.seq = seq;
  read.stream = stream;
}

export function readField(session: Session, name: RootField): string | undefined {
  const value = redis.call('HGET', session.root, name);
  return value === false ? undefined : value;
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
