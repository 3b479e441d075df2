import type { Client } from '@temporalio/client';
import { checkTurn, type Conversation, type Talk } from './conversation.js';
import { findLeftKeys, findOpenWorkflows, type AnyRedis } from './leaks.js';

/** As session-ids.ts begins them. */
const SESSIONS = 'bench-';

/** Looks at every conversation once more, at all effects, and, when all are erased, at what is left. */
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
    ...(await findLeftKeys(redis, SESSIONS)),
    ...(await findOpenWorkflows(temporal, taskQueue)),
  ];
  verdict.leaked += left.length;
  for (const name of left.slice(0, 20)) say(`LEFT ${name}`);
}
