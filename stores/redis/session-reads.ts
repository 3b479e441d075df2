import type { Redis } from 'ioredis';
import type { Row } from '../../protocol/rows.js';
import type { RunStatus, StreamStatus } from '../../protocol/run.js';
import type {
  CallState,
  OpenCall,
  SessionRecord,
  SessionStore,
  SessionView,
} from '../session-store.js';
import { reach } from './connection.js';
import { ACTIVE_INDEX, sessionKeys, SWEEP_LEASE } from './keys.js';
import { runScript } from './scripts.js';

/** A page that took an active snapshot may ask for the turn this much later. */
const ACTIVE_SNAPSHOT_MS = 60_000;

type Reads = Pick<
  SessionStore,
  | 'load'
  | 'readRows'
  | 'readView'
  | 'readCall'
  | 'acceptedMessages'
  | 'noteActiveSnapshot'
  | 'dueSessions'
  | 'forgetDue'
  | 'noteDue'
  | 'leaseSweep'
>;

/** Reads, and the two indexes that are no part of a session's state. */
export function createSessionReads(redis: Redis): Reads {
  return {
    load: async (sessionId) => {
      const root = await reach(redis.hgetall(sessionKeys(sessionId).root));
      return toRecord(sessionId, root);
    },
    readRows: async (sessionId, from, to) => {
      const end = to === undefined ? -1 : to - 1;
      if (to !== undefined && to <= from) return [];
      const rows = await reach(redis.lrange(sessionKeys(sessionId).rows, from, end));
      return rows.map((row) => JSON.parse(row) as Row);
    },
    readView: (sessionId) => readView(redis, sessionId),
    readCall: async (sessionId, toolCallId) => {
      const names = ['spec', 'state', 'row', 'decision', 'asked'].map(
        (name) => `${name}:${toolCallId}`,
      );
      const values = await reach(redis.hmget(sessionKeys(sessionId).calls, ...names));
      const found = names.flatMap((name, at) => (values[at] == null ? [] : [[name, values[at]]]));
      return found.length === 0
        ? undefined
        : toOpenCall(toolCallId, Object.fromEntries(found) as Record<string, string>);
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const known = await reach(redis.hmget(sessionKeys(sessionId).messages, ...ids));
      return ids.filter((_, index) => known[index] != null);
    },
    noteActiveSnapshot: async (sessionId, turn) => {
      await reach(
        runScript(redis, 'note-snapshot', [sessionKeys(sessionId).root], [turn, Date.now()]),
      );
    },
    noteDue: async (sessionId, inMs) => {
      await reach(redis.zadd(ACTIVE_INDEX, Date.now() + inMs, sessionId));
    },
    dueSessions: async (limit, forMs) => {
      const now = Date.now();
      const due = await reach(redis.zrangebyscore(ACTIVE_INDEX, '-inf', now, 'LIMIT', 0, limit));
      if (due.length > 0) {
        const next = due.flatMap((sessionId) => [now + forMs, sessionId]);
        await reach(redis.zadd(ACTIVE_INDEX, 'XX', ...next));
      }
      return due;
    },
    forgetDue: async (sessionId) => {
      await reach(redis.zrem(ACTIVE_INDEX, sessionId));
    },
    leaseSweep: async (holder, forMs) => {
      const taken = await reach(redis.set(SWEEP_LEASE, holder, 'PX', forMs, 'NX'));
      return taken === 'OK';
    },
  };
}

/** One transaction: rows, calls and status of the same moment. */
async function readView(redis: Redis, sessionId: string): Promise<SessionView | undefined> {
  const keys = sessionKeys(sessionId);
  const replies = await reach(
    redis
      .multi()
      .hgetall(keys.root)
      .lrange(keys.rows, 0, -1)
      .lrange(keys.order, 0, -1)
      .hgetall(keys.calls)
      .exec(),
  );
  const [root, rows, order, calls] = (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  }) as [Record<string, string>, string[], string[], Record<string, string>];
  const record = toRecord(sessionId, root);
  if (record === undefined) return undefined;
  return {
    record,
    rows: rows.map((row) => JSON.parse(row) as Row),
    openCalls: order.map((id) => toOpenCall(id, calls)),
  };
}

function toOpenCall(id: string, calls: Record<string, string>): OpenCall {
  const field = (name: string): string | undefined => calls[`${name}:${id}`];
  const row = field('row');
  const decision = field('decision');
  const asked = field('asked');
  return {
    spec: JSON.parse(field('spec') ?? '{}') as OpenCall['spec'],
    state: field('state') as CallState,
    ...(row !== undefined && { row: JSON.parse(row) as Row }),
    ...(decision !== undefined && { decision: JSON.parse(decision) as OpenCall['decision'] }),
    ...(asked !== undefined && { askedAt: Number(asked) }),
  };
}

function toRecord(sessionId: string, root: Record<string, string>): SessionRecord | undefined {
  if (root['agent'] === undefined) return undefined;
  const number = (name: string): number => Number(root[name] ?? 0);
  const json = (name: string): unknown =>
    root[name] === undefined ? undefined : JSON.parse(root[name]);
  const error = json('error') as SessionRecord['error'];
  const stop = json('stop') as SessionRecord['stop'];
  const resume = json('resume') as SessionRecord['resume'];
  const snapshotIsFresh = Date.now() - number('snapAt') < ACTIVE_SNAPSHOT_MS;
  return {
    sessionId,
    agent: root['agent'],
    owner: root['owner'] ?? '',
    ...(root['tenant'] && { tenant: root['tenant'] }),
    createdAt: number('created'),
    updatedAt: number('updated'),
    sequence: number('seq'),
    turn: number('turn'),
    runId: root['run'] ?? '',
    status: root['status'] as RunStatus,
    stream: root['stream'] as StreamStatus,
    messageId: root['messageId'] ?? '',
    turnStartSequence: number('turnSeq'),
    turnStartRow: number('turnRow'),
    runStartedAt: number('started'),
    committedStep: number('committed'),
    claimedStep: number('claimed'),
    pauseSequence: number('pauseSeq'),
    ...(root['checkpoint'] !== undefined && { checkpointId: root['checkpoint'] }),
    ...(error && { error }),
    ...(stop && { stop }),
    ...(resume && { resume, resumeTaken: root['taken'] !== undefined }),
    ...(root['snapTurn'] !== undefined &&
      snapshotIsFresh && { activeSnapshotTurn: number('snapTurn') }),
  };
}
