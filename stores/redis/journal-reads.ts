import type { StartCallResult } from '../contract/calls.js';
import type { Journal, Operation } from '../contract/journal.js';
import { resolveRows, type ReadResults } from './large-results.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import type { Row, ToolRow } from '../../protocol/rows.js';

/** Adds to a permission the large answers in its journal, which are stored apart. */
export function createJournalReads({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): <Reply extends StartCallResult>(
  sessionId: string,
  reply: Reply,
) => Promise<Reply> {
  return async (sessionId, reply) => {
    if (!('journal' in reply) || reply.journal === undefined) return reply;
    const readResults: ReadResults = (ids) =>
      callRedis(redis.hmget(keys.session(sessionId).results, ...ids));
    const rows = reply.journal.flatMap((operation): Row[] => {
      const row = rowOf(operation);
      return row === undefined ? [] : [row];
    });
    const resolved = await resolveRows(rows, readResults);
    const journal: Journal = reply.journal.map((operation) => {
      const row = rowOf(operation);
      if (operation === null || row === undefined) return operation;
      return { ...operation, row: resolved[rows.indexOf(row)] as ToolRow } as Operation;
    });
    return { ...reply, journal };
  };
}

function rowOf(operation: Operation | null): ToolRow | undefined {
  return operation === null || operation.kind === 'step' ? undefined : operation.row;
}
