import type { Calls } from '../contract/calls.js';
import type { AddFileResult } from '../contract/files.js';
import type { MarkResult, StreamLog } from '../contract/log.js';
import type { ReserveResult } from '../contract/owners.js';
import type { Queue } from '../contract/queue.js';
import type { Runs } from '../contract/runs.js';
import type { Sessions } from '../contract/sessions.js';
import type { Steps } from '../contract/steps.js';
import type { StoredState } from '../transitions/lib/stored-state.js';
import type { OwnerTransitionName, TransitionName } from '../transitions/library.js';

/** The reply of each transition, usually the result of the store's method of that name. */
interface Results {
  acceptedMessages: { ids: string[]; runs: string[] };
  addFile: { kind: 'added' } | Exclude<AddFileResult, { kind: 'added' }>;
  begin: Returned<Runs['begin']>;
  beginChild: Returned<Runs['beginChild']>;
  beginQueued: Returned<Queue['begin']>;
  /** `stored`: a part of a copy that is not complete yet. */
  branch: Returned<Sessions['branch']> | { kind: 'stored' };
  /** With what the caller wants: JSON of the result, first row, rows, and the state. */
  claim: Returned<Steps['claim']> | [string, string, string[], ...StoredState];
  closeWriter: Returned<StreamLog['closeWriter']>;
  commit: Returned<Steps['commit']>;
  compact: Returned<Steps['compact']>;
  discard: Returned<Steps['discard']>;
  dropStaged: { toolCallIds: string[] };
  editQueued: Returned<Queue['edit']>;
  end: Returned<Runs['end']>;
  erase: { kind: 'erased' | 'not_found' | 'changed' };
  extendDeadline: Returned<Calls['extendDeadline']>;
  handOver: Returned<Steps['handOver']>;
  /** `late`: a later page is kept. */
  keepPage: { kind: 'kept' | 'superseded' | 'fenced' | 'late' };
  leaseCall: Returned<Calls['lease']>;
  mark: MarkResult;
  openWriter: Returned<StreamLog['openWriter']>;
  pinTools: Returned<Runs['pinTools']>;
  readView: View;
  recordStep: Returned<Calls['recordStep']>;
  recount: { kind: 'recounted' | 'not_found' };
  removeFile: { kind: 'removed' | 'not_found' };
  removeQueued: Returned<Queue['remove']>;
  resumeRun: Returned<Runs['resume']>;
  rewind: Returned<Runs['rewind']>;
  saveState: { kind: 'saved'; version: number } | { kind: 'stale' } | { kind: 'not_found' };
  settleCall: Returned<Calls['settle']>;
  stage: { kind: 'staged' | 'not_found' };
  /** With the state: JSON of the result comes first. */
  startCall: Returned<Calls['start']> | [string, ...StoredState];
  stop: Returned<Runs['stop']>;
  suspendCall: Returned<Calls['suspend']>;
  takeCallId: Returned<Calls['takeId']>;
  takeOver: Returned<Steps['takeOver']>;
  truncate: TruncatedPage;
}

interface OwnerResults {
  reserve: ReserveResult;
  release: { kind: 'released' | 'unknown' };
  forgetUsage: { kind: 'forgotten' | 'unknown' };
  /** `added`: it was not listed · `stale`: a later fold came first. */
  fold: { kind: 'added' | 'folded' | 'stale' | 'removed' | 'unknown' };
}

export type OwnerResultOf<Name extends OwnerTransitionName> = OwnerResults[Name];
export type ResultOf<Name extends TransitionName> = Results[Name];
type Returned<Method extends (...args: never[]) => Promise<unknown>> = Awaited<ReturnType<Method>>;

/** Ids of calls in their order, and all fields of a session's calls. */
export type CallTable = [order: string[], calls: string[]];
type View = [root: string[], rows: number, queue: string[], ...sessions: CallTable[]];

export interface TruncatedPage {
  removed: number;
  lastRemoved: number;
  atSequence: number;
  /** Where the next page begins. */
  next?: number | undefined;
}

/** Transitions reply with JSON that was spliced together from checked values; a view is a list. */
export function parseReply<Name extends TransitionName>(
  transition: Name,
  reply: unknown,
): ResultOf<Name> {
  if (Array.isArray(reply)) return reply as ResultOf<Name>;
  if (typeof reply === 'string') return JSON.parse(reply) as ResultOf<Name>;
  throw new Error(`transition ${transition} replied ${String(reply)}`);
}
