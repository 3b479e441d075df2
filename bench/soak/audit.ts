import type { Client } from '@temporalio/client';
import { Cluster, type Redis } from 'ioredis';
import { untilFound } from '../clock.js';
import { summarize } from '../report.js';
import { residentMegabytes } from '../processes/usage.js';
import { checkTurn, type Conversation, type Talk } from './conversation.js';
import type { Kind } from './verdict.js';

export type AnyRedis = Redis | Cluster;

/** Background deletion must finish within this time. */
const FREED_WITHIN_MS = 30_000;

/** Returns the matching keys of all masters. */
export async function findKeys(redis: AnyRedis, match: string): Promise<string[]> {
  const keys: string[] = [];
  for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
    for await (const page of node.scanStream({ match, count: 1_000 })) {
      keys.push(...(page as string[]));
    }
  }
  return keys;
}

async function findOpenWorkflows(client: Client, taskQueue: string): Promise<string[]> {
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

/** Returns what is left some time after conversations were erased. */
async function untilEmpty(look: () => Promise<string[]>): Promise<string[]> {
  let found: string[] = [];
  const isEmpty = async (): Promise<true | undefined> => {
    found = await look();
    return found.length === 0 || undefined;
  };
  await untilFound(isEmpty, { withinMs: FREED_WITHIN_MS, everyMs: 500 });
  return found;
}

const SAMPLE_MS = 5_000;
/** With fewer samples there is no verdict. */
const MIN_SAMPLES = 40;
/** More growth from the second quarter of the time to the last one is a leak. */
const MAX_GROWTH = 1.25;
const SLACK_MB = 60;

/** Watches processes' memory; the returned function lists those that grow. */
export function watchMemory(pids: Readonly<Record<string, number>>): () => string[] {
  const samples = new Map(Object.keys(pids).map((name) => [name, [] as number[]]));
  const timer = setInterval(() => {
    for (const [name, pid] of Object.entries(pids)) {
      samples.get(name)?.push(residentMegabytes(pid));
    }
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return [...samples].flatMap(([name, all]) => {
      const quarter = Math.floor(all.length / 4);
      const early = summarize(all.slice(quarter, 2 * quarter)).p50;
      const late = summarize(all.slice(-quarter)).p50;
      const grows = all.length >= MIN_SAMPLES && late > early * MAX_GROWTH + SLACK_MB;
      return grows ? [`${name} ${early.toFixed(0)} → ${late.toFixed(0)} MB`] : [];
    });
  };
}

/** Prefix of ids from `newSessionId`. */
const SESSIONS = 'bench-';

/** Checks every conversation and effect again, then erases everything and checks the remains. */
export async function auditAll(
  talk: Talk,
  conversations: readonly Conversation[],
  { redis, temporal, taskQueue }: { redis: AnyRedis; temporal: Client; taskQueue: string },
): Promise<void> {
  const { requests, verdict, say, examine } = talk;
  for (const { sessionId, turns, isStuck } of conversations) {
    if (isStuck) continue;
    const shown = await requests.snapshot(sessionId);
    if (shown.status !== 'ended' && shown.status !== 'failed') {
      verdict.stuck += 1;
      say(`STUCK ${sessionId}: ${shown.status}`);
      await examine?.(sessionId, `at the end it is ${shown.status}`);
    } else for (const turn of turns) checkTurn(talk, sessionId, shown, turn);
  }
  for (const [key, count] of Object.entries(await redis.hgetall('lab:charges'))) {
    if (Number(count) <= 1) continue;
    verdict.twice += Number(count) - 1;
    say(`TWICE ${key}: ${count}`);
  }
  say('erasing all conversations');
  for (const { sessionId } of conversations) {
    const reply = await requests.send(`/chat/${sessionId}`, { method: 'DELETE' });
    await reply.body?.cancel();
  }
  const left = [
    ...(await untilEmpty(() => findKeys(redis, `*${SESSIONS}*`))),
    ...(await untilEmpty(() => findOpenWorkflows(temporal, taskQueue))),
  ];
  verdict.leaked += left.length;
  for (const name of left.slice(0, 20)) say(`LEFT ${name}`);
}

/** Plants faults that a soak must detect, directly in the record, while all conversations rest. */
export async function plant(
  kind: Kind,
  redis: AnyRedis,
  conversations: readonly Conversation[],
): Promise<void> {
  switch (kind) {
    case 'lost':
      return editWord(redis, conversations, '');
    case 'doubled':
      return editWord(redis, conversations, '$& $&');
    case 'stuck': {
      // Not the conversation whose words were edited.
      const key = keyOf(conversations.at(-1), 'root');
      const record = (await redis.hget(key, 'record')) ?? '';
      const edited = record.replace(/"stream":"\w+"/, '"stream":"active"');
      await redis.hset(key, 'record', edited);
      return;
    }
    case 'twice':
      await redis.hincrby('lab:charges', 'planted', 2);
      return;
    case 'leaked':
      await redis.set(keyOf(conversations[0], 'planted'), '1');
  }
}

function keyOf(conversation: Conversation | undefined, name: string): string {
  return `hx:{${conversation?.sessionId ?? ''}}:${name}`;
}

/** Edits the first word of a stored reply. */
async function editWord(
  redis: AnyRedis,
  conversations: readonly Conversation[],
  replacement: string,
): Promise<void> {
  for (const conversation of conversations) {
    const key = keyOf(conversation, 'rows');
    for (const [at, row] of (await redis.lrange(key, 0, -1)).entries()) {
      if (!row.includes('"role":"assistant"')) continue;
      const edited = row.replace(/t\d+w\d+/, replacement);
      if (edited === row) continue;
      await redis.lset(key, at, edited);
      return;
    }
  }
}
