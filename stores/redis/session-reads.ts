import { childPartOf, isStreamId, rootOf } from '../../protocol/ids.js';
import type { OpenCall } from '../contract/call-record.js';
import type { Calls } from '../contract/calls.js';
import type { Queue } from '../contract/queue.js';
import type { Sessions } from '../contract/sessions.js';
import { carrierField } from '../transitions/lib/session.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { toAskers, toOpenCall, toQueuedEntry, toRecord } from './stored-record.js';
import { createStoredRows, sizeOf } from './stored-rows.js';

interface Reads {
  readRecord: Sessions['read'];
  readRows: Sessions['rows'];
  readChildren: Sessions['children'];
  readCarriers: Sessions['carriers'];
  readQueue: Queue['read'];
  readCall: Calls['read'];
  acceptedMessages: Sessions['acceptedMessages'];
  runOf: Sessions['runOf'];
  askers: Sessions['askers'];
}

/** Reads of a session, each made at one moment. */
export function createSessionReads({ redis, reads, keys, transitions, now }: RedisContext): Reads {
  const { readPages, withOutput, withResults } = createStoredRows({ reads, keys });

  /** Sequence and stream status belong to the conversation. */
  async function readRoot(sessionId: string): Promise<Record<string, string>> {
    const own = keys.session(sessionId).root;
    const conversation = keys.session(rootOf(sessionId)).root;
    if (own === conversation) return callRedis(redis.hgetall(own));
    const [root, shared] = (await callRedis(
      redis.together((reads) =>
        reads.hgetall(own).hmget(conversation, 'seq', 'stream', 'committed'),
      ),
    )) as [Record<string, string>, (string | null)[]];
    return withShared(root, shared);
  }

  async function readOwnCall(sessionId: string, toolCallId: string): Promise<OpenCall | undefined> {
    const names = ['spec', 'state', 'row', 'decision', 'asked', 'deadline', 'ask', 'edit'].map(
      (name) => `${name}:${toolCallId}`,
    );
    const values = await callRedis(redis.hmget(keys.session(sessionId).calls, ...names));
    const found = names.flatMap((name, at) => (values[at] == null ? [] : [[name, values[at]]]));
    if (found.length === 0) return undefined;
    const call = toOpenCall(toolCallId, Object.fromEntries(found) as Record<string, string>);
    return (await withResults(sessionId, [call]))[0];
  }

  /** A negative number counts from the end. */
  async function indexOf(sessionId: string, from: number): Promise<number> {
    if (from >= 0) return from;
    return Math.max(0, from + (await callRedis(redis.llen(keys.session(sessionId).rows))));
  }

  return {
    readRecord: async (sessionId) =>
      toRecord(sessionId, await withOutput(sessionId, await readRoot(sessionId)), now()),
    readRows: async (sessionId, from, to, meter) => {
      for (;;) {
        const range = { from: await indexOf(sessionId, from), to };
        const rows = await readPages(sessionId, range, meter);
        if (rows !== undefined) return rows;
      }
    },
    readChildren: async (sessionId) => {
      const parts = await callRedis(redis.hkeys(keys.session(sessionId).children));
      return parts.sort().map((part) => `${rootOf(sessionId)}.${part}`);
    },
    readCarriers: async (sessionId, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const fields = toolCallIds.map((id) => carrierField(childPartOf(sessionId), id));
      const parts = await callRedis(redis.hmget(keys.session(sessionId).owners, ...fields));
      // A call with the name of such a field has something else there.
      return parts
        .map((part) => `${rootOf(sessionId)}.${part ?? ''}`)
        .map((id) => (isStreamId(id) ? id : undefined));
    },
    readQueue: async (sessionId, meter) => {
      const entries = await callRedis(reads.lrange(keys.session(sessionId).queue, 0, -1));
      await meter?.take(sizeOf(entries));
      return entries.map(toQueuedEntry);
    },
    readCall: async (sessionId, toolCallId) => {
      const call = await readOwnCall(sessionId, toolCallId);
      if (call !== undefined) return call;
      // The owner of a sub-agent's call never changes.
      const owner = await callRedis(redis.hget(keys.session(sessionId).owners, toolCallId));
      const [part] = owner?.split(' ') ?? [];
      return part === undefined
        ? undefined
        : readOwnCall(`${rootOf(sessionId)}.${part}`, toolCallId);
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const found = await transitions.run('acceptedMessages', sessionId, { ids });
      return found.ids;
    },
    runOf: async (sessionId, messageId) => {
      const ids = [messageId];
      const [runId] = (await transitions.run('acceptedMessages', sessionId, { ids })).runs;
      return runId === '' ? undefined : runId;
    },
    askers: async (sessionId, messageIds) => {
      if (messageIds.length === 0) return [];
      const { places } = keys.session(sessionId);
      const at = await callRedis(redis.hmget(places, ...messageIds.map((id) => `m:${id}`)));
      const turns = at.map((place) => `w:${place?.split(' ')[1] ?? ''}`);
      return (await callRedis(redis.hmget(places, ...turns))).map(toAskers);
    },
  };
}

function withShared(
  root: Record<string, string>,
  [seq, stream, step]: (string | null)[],
): Record<string, string> {
  return {
    ...root,
    ...(seq != null && { seq }),
    ...(stream != null && { stream }),
    conversationStep: step ?? '0',
  };
}
