import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import type { Act } from '../contract/audit.js';
import type { Erasure, Erasures } from '../contract/erasures.js';
import type { Owners } from '../contract/owners.js';
import type { Sessions } from '../contract/sessions.js';
import type { Waiting } from '../contract/waiting.js';
import type { RequestOf } from '../transitions/library.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { parseStored } from './stored-json.js';

type Context = Pick<RedisContext, 'redis' | 'keys' | 'transitions' | 'now'>;

/** Each try that fails means that a run or a sub-agent has begun meanwhile. */
const MOST_TRIES = 20;
const FILE = 'file:';
/** Sub-agents whose newest run is read at once. */
const READ_AT_ONCE = 100;
/** Temporal lists what happened longer ago. */
const RECENT_MS = 60_000;
/** Of a session that has changed since then. */
const RECENT_ROWS = 200;
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** The list of erasures is written before the conversation is removed. */
const NOTED_MS = 60_000;

/** Erases a session; with an act, what is left to do outside the record is noted with it. */
export async function eraseSession(
  context: Context,
  sessionId: string,
  act: Act | undefined,
  leftovers = false,
): Promise<void> {
  const { redis, keys, transitions, now } = context;
  const end = { type: 'stream_end', streamId: sessionId, timestamp: now(), status: 'aborted' };
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const rest = act === undefined ? undefined : await readRest(context, sessionId);
    if (rest !== undefined) {
      const list = keys.erasing(rest.owner);
      await callRedis(redis.zadd(list, now(), sessionId));
      await callRedis(redis.pexpire(list, KEPT_MS));
    }
    const { kind } = await transitions.run('erase', sessionId, (contents) => {
      const request: RequestOf<'erase'> = { message: contents.addJson(end), leftovers };
      if (rest === undefined || act === undefined) return request;
      const { runId, children, fileChanges, ...found } = rest;
      const noted = {
        rest: contents.addJson({ act, ...found }),
        runId,
        children,
        fileChanges,
        act: contents.addJson(act),
      };
      return { ...request, noted };
    });
    if (kind !== 'changed') return;
  }
  throw new HelixError('unavailable', 'The conversation changes too fast to be erased.');
}

type Rest = Pick<
  Erasure,
  'owner' | 'runs' | 'starting' | 'parts' | 'childRuns' | 'calls' | 'files'
> & {
  runId: string;
  /** Sub-agents of that run. */
  children: number;
  fileChanges: number;
};

/** What an erasure has to reach outside the record; undefined if the session does not exist. */
async function readRest(context: Context, sessionId: string): Promise<Rest | undefined> {
  const { redis, keys } = context;
  const { root, runs, children, files } = keys.session(sessionId);
  const [values, ended, parts, changes] = await Promise.all([
    callRedis(redis.hmget(root, 'run', 'status', 'owner', 'tenant', 'children')),
    callRedis(redis.hkeys(runs)),
    callRedis(redis.hkeys(children)),
    // Before the names: a file that is added in between is noticed.
    callRedis(redis.hget(files, 'changes')),
  ]);
  const names = changes === null ? [] : await callRedis(redis.hkeys(files));
  const [runId, status, owner, tenant, count] = values;
  if (runId == null) return undefined;
  const childRuns: string[] = [];
  const calls = await recentCalls(context, sessionId);
  for (let at = 0; at < parts.length; at += READ_AT_ONCE) {
    const page = parts.slice(at, at + READ_AT_ONCE);
    const ids = page.map((part) => `${sessionId}.${part}`);
    const found = await Promise.all(
      ids.map((id) => callRedis(redis.hget(keys.session(id).root, 'run'))),
    );
    childRuns.push(...found.filter((run) => run !== null));
    calls.push(...(await Promise.all(ids.map((id) => recentCalls(context, id)))).flat());
  }
  return {
    runId,
    children: Number(count ?? 0),
    owner: { owner: owner ?? '', ...(tenant != null && tenant !== '' && { tenant }) },
    runs: [...new Set([...ended, runId])],
    starting: status === 'starting',
    parts,
    childRuns,
    calls,
    files: names.flatMap((name) => (name.startsWith(FILE) ? name.slice(FILE.length) : [])),
    fileChanges: Number(changes ?? 0),
  };
}

/** Calls that the session has made in the last minute, and some before them. */
async function recentCalls(
  { redis, keys, now }: Context,
  sessionId: string,
): Promise<[runId: string, toolCallId: string][]> {
  const { root, rows } = keys.session(sessionId);
  const updated = await callRedis(redis.hget(root, 'updated'));
  if (now() - Number(updated ?? 0) > RECENT_MS) return [];
  const texts = await callRedis(redis.lrange(rows, -RECENT_ROWS, -1));
  return texts.flatMap((text) => {
    const row = parseStored(text, 'row') as Row;
    if (row.role !== 'assistant') return [];
    const { runId } = row;
    return row.parts.flatMap((part): [string, string][] =>
      part.type === 'tool-call' ? [[runId, part.toolCallId]] : [],
    );
  });
}

export interface ErasuresDeps {
  waiting: Pick<Waiting, 'forget'>;
  owners: Pick<Owners, 'fold'>;
  read: Sessions['read'];
}

export function createErasures(
  context: Context,
  { waiting, owners, read }: ErasuresDeps,
): Erasures {
  const { redis, keys, now } = context;
  return {
    of: async (sessionId) => {
      const noted = await callRedis(redis.lrange(keys.gone(sessionId), 0, -1));
      return noted.map((text) => ({
        ...(parseStored(text, 'erasure') as Omit<Erasure, 'text'>),
        text,
      }));
    },
    clear: async (sessionId, { owner }) => {
      await eraseSession(context, sessionId, undefined, true);
      // Another session may have the id by now.
      if ((await read(sessionId)) === undefined) await waiting.forget(sessionId);
      await owners.fold(sessionId, owner);
      await callRedis(redis.zrem(keys.owner(owner).unclaimed, sessionId));
    },
    done: async (sessionId, { text, owner }) => {
      const gone = keys.gone(sessionId);
      await callRedis(redis.lrem(gone, 1, text));
      // Under its id another conversation may have been erased since.
      if ((await callRedis(redis.llen(gone))) > 0) return;
      await callRedis(redis.zrem(keys.erasing(owner), sessionId));
    },
    pending: async (who) => {
      const list = keys.erasing(who);
      const pending: string[] = [];
      for (const sessionId of await callRedis(redis.zrangebyscore(list, '-inf', '+inf'))) {
        if ((await callRedis(redis.llen(keys.gone(sessionId)))) > 0) pending.push(sessionId);
        else if (Number(await callRedis(redis.zscore(list, sessionId))) < now() - NOTED_MS) {
          // Its process died before it had removed anything, or after it was complete.
          await callRedis(redis.zrem(list, sessionId));
        }
      }
      return pending;
    },
  };
}
