import type { ErasureReply } from '../../protocol/replies.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { openAsked } from '../support/asked-chat.js';
import { CLIENT_7, loadSnapshot, openChat, toScript, untilRests } from '../support/chat-client.js';
import { actsOn, untilDeleted } from '../support/erasures.js';
import { charge, delegate } from '../support/lab-calls.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { dumpKeys } from '../support/redis-dump.js';
import { until } from '../support/until.js';

const CANARY = 'canary-4711-of-a-person';
const keys = createKeySpace();

const product = useProduct();
const temporal = openTemporal();

/** Returns the ids of the workflows that Temporal lists for a session and its sub-agents. */
async function listed(sessionId: string): Promise<string[]> {
  const query = `WorkflowId STARTS_WITH 'run:${sessionId}'`;
  const ids: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

async function erase(sessionId: string, query = '?receipt=true'): Promise<Response> {
  return fetch(`${product.url}/api/chat/${sessionId}${query}`, { method: 'DELETE' });
}

/** Holds a conversation with a sub-agent, into which the user types the canary. */
async function converse(): Promise<{ sessionId: string; workflows: string[] }> {
  const { url } = product;
  const asked = await openAsked(
    url,
    { say: CANARY, calls: [delegate('d1', { say: CANARY })] },
    { calls: [charge('c1')] },
  );
  const { sessionId, client } = asked;
  const runId = (await loadSnapshot(url, sessionId)).run?.runId ?? '';
  const run = temporal.workflow.getHandle(`run:${runId}`);
  await run.executeUpdate('approve', {
    args: [{ toolCallId: 'c1', by: CANARY, reason: CANARY, input: { amount: 7, note: CANARY } }],
  });
  await untilRests(client, url);
  const workflows = await until('both workflows are listed', async () => {
    const ids = await listed(sessionId);
    return ids.length === 2 ? ids : undefined;
  });
  expect(JSON.stringify(await run.fetchHistory())).toContain(
    Buffer.from(CANARY).toString('base64').slice(0, 8),
  );
  return { sessionId, workflows };
}

async function textsInRedis(): Promise<string> {
  return JSON.stringify(await dumpKeys(product.redis, '*'));
}

describe('a conversation that is erased', () => {
  it('is erased in Redis and Temporal, sub-agents included; a receipt says what was erased', async () => {
    const stays = newSessionId();
    const other = openChat(CLIENT_7, { url: product.url, sessionId: stays });
    await other.chat.sendMessage(toScript({ say: 'hello' }));
    const { sessionId, workflows } = await converse();
    expect(await textsInRedis()).toContain(CANARY);
    const response = await erase(sessionId);
    expect(response.status).toBe(200);
    const receipt = (await response.json()) as ErasureReply;
    expect(receipt).toMatchObject({ sessionId, by: 'anonymous', complete: true, sessions: 2 });
    expect(receipt).toMatchObject({ workflows: 2 });
    expect(Math.min(receipt.rows, receipt.bytes, receipt.entries)).toBeGreaterThan(0);
    for (const id of workflows) await untilDeleted(temporal, id);
    await until('nothing is listed', async () => (await listed(sessionId)).length === 0, 60_000);
    // The audit trail keeps the operator's name until the operator is erased.
    const left = (await dumpKeys(product.redis, '*')).filter(({ key }) => !key.includes(':audit:'));
    expect(JSON.stringify(left)).not.toContain(CANARY);
    expect(
      JSON.stringify(await product.redis.xrange(keys.audit('').chain, '-', '+')),
    ).not.toContain(CANARY);
    await product.workerSays('a call was answered');
    await product.apiSays('a conversation was erased');
    expect(product.log()).not.toContain(CANARY);
    const entries = await actsOn(product.url, sessionId);
    expect(entries.map(({ action }) => action)).toEqual(['approve', 'erase', 'erased']);
    const { at: _at, by: _by, sessionId: _session, complete: _complete, ...counts } = receipt;
    expect(entries.at(-1)).toMatchObject({ outcome: 'complete', detail: counts });
    expect((await loadSnapshot(product.url, stays)).messages).toHaveLength(2);
    expect(await listed(stays)).toHaveLength(1);
  }, 200_000);

  it('is 204 to stock clients, and to the sender of a repeated request unknown', async () => {
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url: product.url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'hello' }));
    expect((await erase(sessionId, '')).status).toBe(204);
    expect((await erase(sessionId)).status).toBe(404);
  });
});
