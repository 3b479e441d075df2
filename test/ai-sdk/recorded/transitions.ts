import type { SessionStore } from '../../../stores/session-store.js';
import type { StreamManager } from '../../../stores/log/stream-manager.js';
import { rootOf } from '../../../protocol/ids.js';

/** Every call by which a run, or who talks to it, changes a session. */
export const SESSION_CALLS = [
  'begin',
  'beginChild',
  'takeCallId',
  'beginQueued',
  'editQueued',
  'removeQueued',
  'resumeRun',
  'rewind',
  'branch',
  'claim',
  'discard',
  'commit',
  'startCall',
  'settleCall',
  'extendDeadline',
  'stop',
  'takeOver',
  'end',
  'save',
  'stageChanges',
  'promoteStaging',
  'promoteSettled',
  'discardStaging',
] as const satisfies (keyof SessionStore)[];

/** Every call by which they change its stream. */
export const STREAM_CALLS = [
  'openWriter',
  'closeWriter',
  'append',
  'mark',
  'truncate',
] as const satisfies (keyof StreamManager)[];

export type TransitionName = (typeof SESSION_CALLS)[number] | (typeof STREAM_CALLS)[number];

/** One change of a store: what was asked for, and what came of it. */
export interface Transition {
  /** The store's clock, ms since the epoch. */
  at: number;
  name: TransitionName;
  args: unknown[];
  result: unknown;
}

export interface Stores {
  store: SessionStore;
  streamManager: StreamManager;
}

/** The call of that name on the stores that it belongs to. */
export function callOf(
  { store, streamManager }: Stores,
  name: TransitionName,
): (...args: unknown[]) => Promise<unknown> {
  const owner: object = STREAM_CALLS.some((own) => own === name) ? streamManager : store;
  return Reflect.get(owner, name) as (...args: unknown[]) => Promise<unknown>;
}

/** The conversation that a transition is about. */
export function conversationOf({ args: [first] }: Pick<Transition, 'args'>): string {
  if (typeof first === 'string') return rootOf(first);
  const { writer, child, sessionId } = first as Record<
    'writer' | 'child',
    { sessionId: string }
  > & {
    sessionId: string;
  };
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- one of the three is there
  return rootOf((writer ?? child)?.sessionId ?? sessionId);
}
