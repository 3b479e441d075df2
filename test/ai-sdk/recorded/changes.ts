import type { Store } from '../../../store/contract/store.js';
import type { StreamManager } from '../../../store/log/stream-manager.js';
import { rootOf } from '../../../protocol/ids.js';

/** `<noun>.<method>` of a store. */
type MethodName = { [N in keyof Store]: `${N}.${keyof Store[N] & string}` }[keyof Store];

/** Every call by which a run, or who talks to it, changes a session. */
export const SESSION_CALLS = [
  'runs.begin',
  'runs.beginChild',
  'calls.takeId',
  'queue.begin',
  'queue.edit',
  'queue.remove',
  'runs.resume',
  'runs.rewind',
  'sessions.branch',
  'steps.claim',
  'steps.discard',
  'steps.commit',
  'calls.start',
  'calls.settle',
  'calls.extendDeadline',
  'runs.stop',
  'steps.takeOver',
  'runs.end',
  'documents.save',
  'staging.stage',
  'staging.promote',
  'staging.promoteSettled',
  'staging.discard',
] as const satisfies MethodName[];

/** Every call by which they change its stream. */
export const STREAM_CALLS = [
  'openWriter',
  'closeWriter',
  'append',
  'mark',
  'truncate',
] as const satisfies (keyof StreamManager)[];

export type ChangeName = (typeof SESSION_CALLS)[number] | (typeof STREAM_CALLS)[number];

/** One change of a store: what was asked for, and what came of it. */
export interface Change {
  /** The store's clock, ms since the epoch. */
  at: number;
  name: ChangeName;
  args: unknown[];
  result: unknown;
}

export interface Stores {
  store: Store;
  streamManager: StreamManager;
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** The call of that name on the stores that it belongs to. */
export function callOf({ store, streamManager }: Stores, name: ChangeName): Call {
  const [noun, method] = name.split('.') as [
    Exclude<keyof Store, 'leases' | 'pauses' | 'requests' | 'files'>,
    string | undefined,
  ];
  return method === undefined
    ? (Reflect.get(streamManager, name) as Call)
    : (Reflect.get(store[noun], method) as Call);
}

/** The conversation that a change is about. */
export function conversationOf({ args: [first] }: Pick<Change, 'args'>): string {
  if (typeof first === 'string') return rootOf(first);
  const { writer, child, sessionId } = first as Record<
    'writer' | 'child',
    { sessionId: string }
  > & {
    sessionId: string;
  };
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- one of the three is there
  return rootOf((writer ?? child)?.sessionId ?? sessionId);
}
