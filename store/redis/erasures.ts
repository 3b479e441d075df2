import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import type { Act } from '../contract/audit.js';
import type { Erasure, Erasures } from '../contract/erasures.js';
import type { Owners } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import type { Waiting } from '../contract/waiting.js';
import type { SessionRecord } from '../../session/record.js';
import type { Session } from '../../session/tree.js';
import { erase } from '../../session/erase.js';
import { toStoredJson, parseStored } from '../record/stored-json.js';
import type { RedisContext } from './context.js';
import { REWIND } from './documents.js';
import { toOwner } from './keys.js';
import type { Write } from './write-if.js';

/** A try fails only if a run or a sub-agent has begun, or files have changed, meanwhile. */
const MAX_TRIES = 20;
const FILE = 'file:';
/** Temporal lists work that is older than this. */
const RECENT_MS = 60_000;
/** Number of rows searched in a session that changed within RECENT_MS. */
const RECENT_ROWS = 200;
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** An erasure is listed at most this long before its conversation is removed. */
const NOTED_MS = 60_000;

/** Erases a session. With an act, the remaining work outside the record is noted with it. */
export async function eraseSession(context: RedisContext, sessionId: string, act: Act | undefined) {
  const { keys, change, writeIf, now } = context;
  const end = { type: 'stream_end', streamId: sessionId, timestamp: now(), status: 'aborted' };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = act && (await readRest(context, sessionId, act));
    if (found !== undefined) {
      const list = keys.erasing(found.owner);
      const writes: Write[] = [
        ['ZADD', list, now(), sessionId],
        ['PEXPIRE', list, KEPT_MS],
      ];
      await writeIf([], writes, { isFreeing: true });
    }
    const input = { message: toStoredJson(end), noted: found?.noted };
    const { kind } = await change(sessionId, erase, input, { isFreeing: true });
    if (kind !== 'changed') return;
  }
  throw new HelixError('unavailable', 'The conversation changes too fast to be erased.');
}

/** Reads the work of an erasure outside the record; undefined if the session does not exist. */
function readRest({ look, now }: RedisContext, sessionId: string, act: Act) {
  return look(sessionId, (session) => {
    const { record, tree, runs, children, files } = session;
    if (record === undefined) return undefined;
    const { run, owner, tenant } = record;
    const parts = [...children.all().keys()];
    const below = parts.map((part) => tree.session(part));
    const kept = files.all();
    const ended = [...runs.all().keys()].filter((name) => !name.startsWith(REWIND));
    const rest: Omit<Erasure, 'text' | 'rows' | 'entries' | 'bytes'> = {
      act,
      owner: toOwner(owner, tenant),
      runs: [...new Set([...ended, run.id])],
      starting: mayStart(record, now()) ? run.id : undefined,
      parts,
      childRuns: below.flatMap((child) => child.record?.run.id ?? []),
      calls: [session, ...below].flatMap((each) => recentCalls(each, now())),
      files: [...kept.keys()].flatMap((name) =>
        name.startsWith(FILE) ? name.slice(FILE.length) : [],
      ),
    };
    const noted = {
      rest: toStoredJson(rest),
      runId: run.id,
      children: run.children,
      fileChanges: Number(kept.get('changes') ?? 0),
      act: toStoredJson(act),
    };
    return { owner: rest.owner, noted };
  });
}

/** Returns true for a run that has claimed no step: its workflow may appear even if the run was just stopped. */
function mayStart({ run, updated }: SessionRecord, now: number): boolean {
  const { status, mode, claimed, fromStep } = run;
  if (status === 'starting') return true;
  return mode !== 'branch' && claimed === fromStep && now - updated < RECENT_MS;
}

/** Returns the session's calls of the last minute, perhaps with earlier ones. */
function recentCalls(session: Session, now: number): [runId: string, toolCallId: string][] {
  const { record, rows } = session;
  if (record === undefined || now - Math.max(record.updated, session.appended) > RECENT_MS)
    return [];
  const { count } = rows;
  return rows.range(Math.max(0, count - RECENT_ROWS), count - 1).flatMap((text) => {
    const row = parseStored(text, 'row') as Row;
    if (row.role !== 'assistant') return [];
    const { runId } = row;
    return row.parts.flatMap((part): [string, string][] =>
      part.type === 'tool-call' ? [[runId, part.toolCallId]] : [],
    );
  });
}

export function createErasures(
  { redis, keys, now }: RedisContext,
  { waiting, owners, read }: { waiting: Waiting; owners: Owners; read: Sessions['read'] },
): Erasures {
  return {
    of: async (sessionId) => {
      const noted = await redis.lrange(keys.gone(sessionId), 0, -1);
      return noted.map((text) => ({
        ...(parseStored(text, 'erasure') as Omit<Erasure, 'text'>),
        text,
      }));
    },
    clear: async (sessionId, { owner }) => {
      // Another session may have the id by now.
      if ((await read(sessionId)) === undefined) await waiting.forget(sessionId);
      await owners.fold(sessionId, owner);
      await redis.zrem(keys.owner(owner).unclaimed, sessionId);
    },
    done: async (sessionId, { text, owner }) => {
      const gone = keys.gone(sessionId);
      await redis.lrem(gone, 1, text);
      // Another conversation with the same id may have been erased since.
      if ((await redis.llen(gone)) > 0) return;
      await redis.zrem(keys.erasing(owner), sessionId);
    },
    pending: async (who) => {
      const list = keys.erasing(who);
      const pending: string[] = [];
      for (const sessionId of await redis.zrangebyscore(list, '-inf', '+inf')) {
        if ((await redis.llen(keys.gone(sessionId))) > 0) pending.push(sessionId);
        else if (Number(await redis.zscore(list, sessionId)) < now() - NOTED_MS) {
          // The process died before it removed anything, or after the erasure was complete.
          await redis.zrem(list, sessionId);
        }
      }
      return pending;
    },
  };
}
