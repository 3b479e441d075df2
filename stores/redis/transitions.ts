import type { Head, StoredEntry } from '../record/audit-chain.js';
import { type OwnerRequestOf, type OwnerTransitionName } from '../transitions/library.js';
import type { AuditKeys, DueKeys, KeySpace } from './keys.js';
import { corrupt } from './stored-json.js';
import type { OwnerResultOf } from './transition-results.js';
import { randomBytes } from 'node:crypto';
import { createMake, newerLayout, type Make } from './make-change.js';
import { createChange, type Change } from '../../store/change.js';
import { APPEND, createBackend, type Evaluate } from '../../store/redis/backend.js';
import { toWireText } from '../memory/local-commands.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RunLibrary } from './run-library.js';

/** The transitions of the record, in Redis or in process. */
export interface Transitions {
  /** Runs a transition on the figures of an owner. */
  runOfOwner: <Name extends OwnerTransitionName>(
    name: Name,
    owner: SessionOwner,
    request: OwnerRequestOf<Name>,
    title?: string,
  ) => Promise<OwnerResultOf<Name>>;
  /** The hot path. `args` are those of transitions/append without the name. */
  append: (sessionId: string, args: readonly (string | number)[]) => Promise<(number | string)[]>;
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

export function createTransitions(
  runLibrary: RunLibrary,
  keys: KeySpace,
  { append }: Pick<Conversations, 'append'>,
): Transitions {
  return {
    runOfOwner: async (name, owner, request, title = '') => {
      const { holds, user } = keys.owner(owner);
      // A fold may free memory of an owner, so it also runs while Redis is full; a reservation does
      // not.
      const mode = name === 'reserve' ? 'writing' : 'free';
      const args = [name, user, JSON.stringify(request), title];
      return JSON.parse((await runLibrary(mode, [holds], args)) as string) as never;
    },
    append: async (sessionId, args) => {
      const reply = await append(keys.append(sessionId), args.map(toWireText));
      if (reply[0] === APPEND_NEWER) throw newerLayout();
      return reply;
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

export function createConversations(
  evaluate: Evaluate,
  prefix: string,
  { streamTtlSeconds, sessionTtlSeconds }: Expiry,
): Conversations {
  const keep = { streamMs: streamTtlSeconds * 1000, sessionMs: sessionTtlSeconds * 1000 };
  const newVersion = (): string => randomBytes(9).toString('base64url');
  const change = createChange(createBackend(evaluate, { prefix, keep, newVersion }));
  return {
    change,
    make: createMake(change),
    append: (keys, args) => evaluate(APPEND, keys, args) as Promise<(number | string)[]>,
  };
}

/** What `append` replies where a newer build has laid out the record. */
const APPEND_NEWER = 6;

/** Changes of conversations, and appends to their logs. */
export interface Conversations {
  change: Change;
  make: Make;
  /** @param args of the script `append` */
  append: (keys: readonly string[], args: readonly string[]) => Promise<(number | string)[]>;
}
