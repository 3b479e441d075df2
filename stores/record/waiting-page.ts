import type { CallKind } from '../../protocol/run.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SessionCalls } from '../contract/sessions.js';
import type {
  SessionOwner,
  WaitingPage,
  WaitingPageOptions,
  WaitingSession,
} from '../contract/waiting.js';
import { formatCursor, parseCursor, type ListedSession } from './list-cursor.js';

/** A session on an owner's list. */
export interface WaitingEntry {
  sessionId: string;
  since: number;
}

/** An owner's list: sessions that asked something, of which some may wait no more. */
export interface WaitingList {
  /** The next entries behind one, in order of time and then id, at most so many. */
  next: (after: WaitingEntry | undefined, count: number) => Promise<WaitingEntry[]>;
  readCalls: (sessionId: string) => Promise<SessionCalls | undefined>;
  /** Takes an entry off that was found not to wait, unless it does so after all. */
  drop: (sessionId: string) => Promise<void>;
}

/** Entries that are looked at for one page: the list is cleaned as it is read, and may be dirty. */
const MOST_LOOKS = 500;

/** One page of those that do wait; cleans the list on the way. */
export async function readWaitingPage(
  list: WaitingList,
  owner: SessionOwner,
  { limit, cursor }: WaitingPageOptions,
): Promise<WaitingPage> {
  const sessions: WaitingSession[] = [];
  let last = cursor === undefined ? undefined : toEntry(parseCursor(cursor));
  for (let looks = 0; sessions.length < limit && looks < MOST_LOOKS;) {
    const entries = await list.next(last, limit - sessions.length);
    if (entries.length === 0) return { sessions };
    looks += entries.length;
    last = entries.at(-1);
    const found = await Promise.all(
      entries.map(async ({ sessionId, since }) => {
        const calls = await list.readCalls(sessionId);
        if (calls !== undefined && isOwnedBy(calls, owner) && calls.openCalls.some(asks)) {
          return [{ ...calls, since }];
        }
        await list.drop(sessionId);
        return [];
      }),
    );
    sessions.push(...found.flat());
  }
  const isLast = (await list.next(last, 1)).length === 0;
  return {
    sessions,
    ...(last && !isLast && { cursor: formatCursor({ ...last, at: last.since }) }),
  };
}

/** True for calls that people or their pages answer. */
export function isQuestion({ kind }: { kind: CallKind }): boolean {
  return kind === 'approval' || kind === 'client';
}

/** True for a question that is asked and not answered. */
export function asks({ spec, row, decision, held = false }: OpenCall): boolean {
  return isQuestion(spec) && !held && row === undefined && decision === undefined;
}

function isOwnedBy({ record }: SessionCalls, { owner, tenant }: SessionOwner): boolean {
  const of = (name = ''): string => name.toWellFormed();
  return record.owner === of(owner) && of(record.tenant) === of(tenant);
}

function toEntry({ sessionId, at }: ListedSession): WaitingEntry {
  return { sessionId, since: at };
}
