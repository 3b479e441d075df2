import type { CallKind } from '../../protocol/run.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SessionCalls, SessionRecord } from '../contract/sessions.js';
import type {
  SessionOwner,
  WaitingPage,
  WaitingPageOptions,
  WaitingSession,
} from '../contract/waiting.js';
import { formatCursor, parseCursor, type ListedSession } from './list-cursor.js';

/** A session on a list. */
export interface WaitingEntry {
  sessionId: string;
  since: number;
}

/** A list of sessions that asked something, of which some may wait no more. */
export interface WaitingList {
  /** The next entries behind one, in order of time and then id, at most so many. */
  next: (after: WaitingEntry | undefined, count: number) => Promise<WaitingEntry[]>;
  readCalls: (sessionId: string) => Promise<SessionCalls | undefined>;
  /** True for the sessions that may be on this list. */
  belongs: (record: SessionRecord) => boolean;
  /** Takes an entry off that was found not to wait, unless it does so after all. */
  drop: (sessionId: string) => Promise<void>;
}

/** Entries that are looked at for one page: the list is cleaned as it is read, and may be dirty. */
const MOST_LOOKS = 500;

/** One page of those that do wait; cleans the list on the way. */
export async function readWaitingPage(
  list: WaitingList,
  { limit, cursor, askedBy = Infinity }: WaitingPageOptions,
): Promise<WaitingPage> {
  const sessions: WaitingSession[] = [];
  let last = cursor === undefined ? undefined : toEntry(parseCursor(cursor));
  for (let looks = 0; sessions.length < limit && looks < MOST_LOOKS;) {
    const listed = await list.next(last, limit - sessions.length);
    const entries = listed.filter(({ since }) => since <= askedBy);
    if (entries.length === 0) return { sessions };
    looks += entries.length;
    last = entries.at(-1);
    const found = await Promise.all(
      entries.map(async ({ sessionId, since }) => {
        const calls = await list.readCalls(sessionId);
        if (calls !== undefined && list.belongs(calls.record) && calls.openCalls.some(asks)) {
          return [{ ...calls, since }];
        }
        await list.drop(sessionId);
        return [];
      }),
    );
    sessions.push(...found.flat());
  }
  const [behind] = await list.next(last, 1);
  const isLast = behind === undefined || behind.since > askedBy;
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

/** True for a session of that owner; lone surrogates cannot be stored. */
export function isOwnedBy(record: SessionRecord, { owner, tenant }: SessionOwner): boolean {
  return record.owner === owner.toWellFormed() && isOfTenant(record, tenant);
}

/** True for a session of that tenant; of none without a name. */
export function isOfTenant(record: Pick<SessionRecord, 'tenant'>, tenant = ''): boolean {
  return (record.tenant ?? '').toWellFormed() === tenant.toWellFormed();
}

function toEntry({ sessionId, at }: ListedSession): WaitingEntry {
  return { sessionId, since: at };
}
