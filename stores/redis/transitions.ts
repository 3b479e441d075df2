import { HelixError } from '../../protocol/errors.js';
import { toStoredJson } from '../record/to-stored-json.js';
import {
  FREEING,
  READING,
  type OwnerRequestOf,
  type OwnerTransitionName,
  type RequestOf,
  type TransitionName,
} from '../transitions/library.js';
import { RECORD_LAYOUT } from '../transitions/lib/layout.js';
import { createContents, type Contents } from './contents.js';
import type { DueKeys, KeySpace } from './keys.js';
import type { TransitionMode } from './library.js';
import { parseReply } from './parse-reply.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { OwnerResultOf, ResultOf } from './transition-results.js';
import type { RunLibrary } from './run-library.js';

/** The transitions of the record, wherever they run. */
export interface Transitions {
  /**
   * Runs one on a session; the request may name content, and depend on the layout in which records are
   * written. Some do their work a page at a time: those
   * are sent until all is done.
   *
   * @throws HelixError `unavailable` if a newer release has laid out the session's record
   */
  run: <Name extends TransitionName>(
    name: Name,
    sessionId: string,
    request: RequestOf<Name> | ((contents: Contents, layout: number) => RequestOf<Name>),
  ) => Promise<ResultOf<Name>>;
  /** Runs one on what an owner has. */
  runOfOwner: <Name extends OwnerTransitionName>(
    name: Name,
    owner: SessionOwner,
    request: OwnerRequestOf<Name>,
    title?: string,
  ) => Promise<OwnerResultOf<Name>>;
  /** The hot path. args as transitions/append has them, without the name. */
  append: (sessionId: string, args: readonly (string | number)[]) => Promise<(number | string)[]>;
  /** Of a session that is there. */
  noteSnapshot: (
    sessionId: string,
    snapshot: { turn: number; isActive: boolean },
    now: number,
  ) => Promise<void>;
  /** Also while Redis is full; false if the session is not among those that are listed. */
  noteDue: (lists: DueKeys, sessionId: string, at: number) => Promise<boolean>;
  /** Sessions of a shard that are due, apart by the lists that they are on. */
  takeDue: (
    lists: DueKeys,
    times: { now: number; again: number },
    most: { urgent: number; routine: number },
  ) => Promise<{ urgent: string[]; routine: string[] }>;
  /** Moves a session that was taken from a list; false if it was noted since. Without a time it is on none. */
  putDue: (
    from: string,
    onto: string,
    sessionId: string,
    taken: number,
    at?: number,
  ) => Promise<boolean>;
  /** Lines, sequence and server, as transitions/read-page has them. */
  readPage: (sessionId: string, fromSequence: number, limit: number) => Promise<string[]>;
}

/** How long what has ended is kept, seconds. */
export interface Expiry {
  streamTtlSeconds: number;
  /** 0: without limit. */
  sessionTtlSeconds: number;
}

const MODES = new Map<TransitionName, TransitionMode>([
  ...FREEING.map((name) => [name, 'free'] as const),
  ...READING.map((name) => [name, 'reading'] as const),
]);
const MORE = '{"kind":"more"}';
const NEWER_LAYOUT = '{"kind":"newer_layout"}';

export function createTransitions(
  runLibrary: RunLibrary,
  keys: KeySpace,
  { streamTtlSeconds, sessionTtlSeconds }: Expiry,
  readLayout: () => number | Promise<number> = () => RECORD_LAYOUT,
): Transitions {
  const expiry = `${String(streamTtlSeconds)} ${String(sessionTtlSeconds)}`;
  return {
    run: async (name, sessionId, request) => {
      // Without a wait where there is none, so that what is asked for in order is sent in order.
      const given = readLayout();
      const layout = typeof given === 'number' ? given : await given;
      const contents = createContents();
      const fixed = typeof request === 'function' ? request(contents, layout) : request;
      const settings = `${expiry} ${String(layout)}`;
      const args = [name, sessionId, settings, toStoredJson(fixed), ...contents.texts];
      const mode = MODES.get(name) ?? 'writing';
      const all = keys.session(sessionId).all;
      for (;;) {
        const reply = await runLibrary(mode, all, args);
        if (reply === NEWER_LAYOUT) throw newerLayout();
        if (reply !== MORE) return parseReply(name, reply);
      }
    },
    runOfOwner: async (name, owner, request, title = '') => {
      const { holds, user } = keys.owner(owner);
      // A fold may free an owner, so it is done while Redis is full; nothing is reserved then.
      const mode = name === 'fold' ? 'free' : 'writing';
      const args = [name, user, JSON.stringify(request), title];
      return JSON.parse((await runLibrary(mode, [holds], args)) as string) as never;
    },
    append: async (sessionId, args) =>
      (await runLibrary('writing', keys.append(sessionId), ['append', ...args])) as number[],
    noteSnapshot: async (sessionId, { turn, isActive }, now) => {
      const { root } = keys.session(sessionId);
      // Two short fields: a page may be loaded while Redis is full.
      await runLibrary('free', [root], ['noteSnapshot', turn, now, isActive ? 1 : 0]);
    },
    noteDue: async ({ urgent, routine }, sessionId, at) =>
      (await runLibrary('free', [urgent, routine], ['noteDue', sessionId, at])) === 1,
    takeDue: async ({ urgent, routine }, { now, again }, most) => {
      const args = ['takeDue', now, again, most.urgent, most.routine];
      const reply = await runLibrary('writing', [urgent, routine], args);
      const [count, ...taken] = reply as [number, ...string[]];
      return { urgent: taken.slice(0, count), routine: taken.slice(count) };
    },
    putDue: async (from, onto, sessionId, taken, at) =>
      (await runLibrary('writing', [from, onto], ['putDue', sessionId, taken, at ?? ''])) === 1,
    readPage: async (sessionId, fromSequence, limit) => {
      const { stream, root } = keys.session(sessionId);
      const args = ['readPage', fromSequence, limit];
      return (await runLibrary('reading', [stream, root], args)) as string[];
    },
  };
}

function newerLayout(): HelixError {
  return new HelixError(
    'unavailable',
    'This conversation was written by a newer release; servers of that release go on with it.',
  );
}
