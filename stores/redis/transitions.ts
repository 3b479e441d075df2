import { HelixError } from '../../protocol/errors.js';
import type { Head, StoredEntry } from '../record/audit-chain.js';
import { toStoredJson } from '../record/to-stored-json.js';
import {
  FREEING,
  READING,
  type OwnerRequestOf,
  type OwnerTransitionName,
  type RequestOf,
  type TransitionName,
} from '../transitions/library.js';
import { createContents, type Contents } from './contents.js';
import type { AuditKeys, DueKeys, KeySpace } from './keys.js';
import type { TransitionMode } from './library.js';
import { corrupt } from './stored-json.js';
import { parseReply, type OwnerResultOf, type ResultOf } from './transition-results.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RunLibrary } from './run-library.js';

/** The transitions of the record, in Redis or in process. */
export interface Transitions {
  /**
   * Runs a transition on a session. The request may refer to content. Transitions that work page by
   * page are repeated until they are done.
   *
   * @throws HelixError `unavailable` if a newer build has laid out the session's record
   */
  run: <Name extends TransitionName>(
    name: Name,
    sessionId: string,
    request: RequestOf<Name> | ((contents: Contents) => RequestOf<Name>),
  ) => Promise<ResultOf<Name>>;
  /** Runs a transition on the figures of an owner. */
  runOfOwner: <Name extends OwnerTransitionName>(
    name: Name,
    owner: SessionOwner,
    request: OwnerRequestOf<Name>,
    title?: string,
  ) => Promise<OwnerResultOf<Name>>;
  /** The hot path. `args` are those of transitions/append without the name. */
  append: (sessionId: string, args: readonly (string | number)[]) => Promise<(number | string)[]>;
  /** For an existing session. */
  noteSnapshot: (
    sessionId: string,
    snapshot: { turn: number; isActive: boolean },
    now: number,
  ) => Promise<void>;
  /** Also works while Redis is full; false if the session is not listed. */
  noteDue: (lists: DueKeys, sessionId: string, at: number) => Promise<boolean>;
  /** Sessions of a shard that are due, separated by list. */
  takeDue: (
    lists: DueKeys,
    times: { now: number; again: number },
    most: { urgent: number; routine: number },
  ) => Promise<{ urgent: string[]; routine: string[] }>;
  /**
   * Appends entries to an audit chain if it still ends at `head` and has none of their ids; returns
   * where it ends now, and the ids that it has.
   */
  chainAudit: (
    keys: Pick<AuditKeys, 'head' | 'chain' | 'seen'>,
    head: Head,
    entries: readonly (StoredEntry & { id: string })[],
    now: number,
  ) => Promise<{ chained: boolean; head: Head; known: string[] }>;
  /** Raises the number of the entry up to which a chain was passed on. */
  passAudit: (head: string, field: string, n: number) => Promise<void>;
  /** Drops the oldest entries of an audit chain, up to and including this one, and names sealed before. */
  trimAudit: (
    keys: Pick<AuditKeys, 'head' | 'chain' | 'acted' | 'sealed'>,
    last: Head,
    before: number,
  ) => Promise<void>;
  /** Names refused items in the record of a batch, as field and code, if that still exists. */
  noteRefusals: (
    batch: string,
    limits: { most: number; keptMs: number },
    refused: readonly (readonly [field: string, code: string])[],
  ) => Promise<void>;
  /**
   * Moves a session that was taken from a list; false if it was noted since. Without `at` it is
   * removed from the lists.
   */
  putDue: (
    from: string,
    onto: string,
    sessionId: string,
    taken: number,
    at?: number,
  ) => Promise<boolean>;
}

/** How long ended streams and sessions are kept, seconds. */
export interface Expiry {
  streamTtlSeconds: number;
  /** 0: no limit. */
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
): Transitions {
  const expiry = `${String(streamTtlSeconds)} ${String(sessionTtlSeconds)}`;
  return {
    run: async (name, sessionId, request) => {
      const contents = createContents();
      const fixed = typeof request === 'function' ? request(contents) : request;
      const args = [name, sessionId, expiry, toStoredJson(fixed), ...contents.texts];
      const mode = MODES.get(name) ?? 'writing';
      const { all } = keys.session(sessionId);
      for (;;) {
        const reply = await runLibrary(mode, all, args);
        if (reply === NEWER_LAYOUT) throw newerLayout();
        if (reply !== MORE) return parseReply(name, reply);
      }
    },
    runOfOwner: async (name, owner, request, title = '') => {
      const { holds, user } = keys.owner(owner);
      // A fold may free memory of an owner, so it also runs while Redis is full; a reservation does
      // not.
      const mode = name === 'reserve' ? 'writing' : 'free';
      const args = [name, user, JSON.stringify(request), title];
      return JSON.parse((await runLibrary(mode, [holds], args)) as string) as never;
    },
    append: async (sessionId, args) => {
      const reply = await runLibrary('writing', keys.append(sessionId), ['append', ...args]);
      if ((reply as number[])[0] === APPEND_NEWER_LAYOUT) throw newerLayout();
      return reply as number[];
    },
    noteSnapshot: async (sessionId, { turn, isActive }, now) => {
      const { root } = keys.session(sessionId);
      // Writes only two short fields, so that a page can be loaded while Redis is full.
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
    chainAudit: async ({ head: at, chain, seen }, { n, hash }, entries, now) => {
      const added = entries.flatMap((entry) => [entry.id, entry.text, entry.hash, entry.mac]);
      const args = ['chainAudit', now, n, hash, ...added];
      const reply = (await runLibrary('writing', [at, chain, seen], args)) as string[];
      const [kind, number = '0', newest = '', ...known] = reply;
      if (kind === 'stray') throw corrupt('end of an audit trail');
      return { chained: kind === 'chained', head: { n: Number(number), hash: newest }, known };
    },
    passAudit: async (head, field, n) => {
      await runLibrary('writing', [head], ['passAudit', field, n]);
    },
    trimAudit: async ({ head, chain, acted, sealed }, { n, hash }, before) => {
      const args = ['trimAudit', n, hash, before];
      await runLibrary('writing', [head, chain, acted, sealed], args);
    },
    noteRefusals: async (batch, { most, keptMs }, refused) => {
      await runLibrary('writing', [batch], ['noteRefusals', most, keptMs, ...refused.flat()]);
    },
    putDue: async (from, onto, sessionId, taken, at) =>
      (await runLibrary('writing', [from, onto], ['putDue', sessionId, taken, at ?? ''])) === 1,
  };
}

/** What `append` replies where other transitions say `newer_layout`. */
const APPEND_NEWER_LAYOUT = 6;

function newerLayout(): HelixError {
  return new HelixError(
    'unavailable',
    'This conversation was written by a newer build; only servers of that build can continue it.',
  );
}
