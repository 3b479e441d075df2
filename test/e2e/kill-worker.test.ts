import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilAsked,
  untilEnded,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS, type LabAgent } from '../support/lab-agents.js';
import { charge, chargesOf } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { postMessage, readSse, type SseReader } from '../support/sse-reader.js';
import { storedCall, storedRecord } from '../support/stored-record.js';
import { until } from '../support/until.js';
import { callHook, untilSent, WAITS } from '../support/webhook-chat.js';

const FIRST = 'The first attempt says this and dies in the middle of it. '.repeat(30);
const SECOND = 'What the second attempt says is something else.';
/** The model's two attempts at a step say different things. */
const changesItsMind = {
  say: SECOND,
  deltas: 10,
  everyMs: 10,
  attempts: [{ say: FIRST, deltas: 300, everyMs: 200 }, {}],
};

const product = useProduct();

interface Conversation {
  library: (typeof CLIENTS)[number][1];
  agent: LabAgent;
  sessionId: string;
  client: ChatClient;
  reply: Promise<unknown>;
}

function open(library: Conversation['library'], agent: LabAgent, ...script: object[]) {
  const sessionId = newSessionId();
  const client = openChat(library, { url: product.url, sessionId, agent });
  return { library, agent, sessionId, client, reply: client.chat.sendMessage(toScript(...script)) };
}

/** Opens the same conversation with both agents, side by side. */
const openAll = (...script: object[]): Conversation[] =>
  LAB_AGENTS.map((agent) => open(CLIENT_7, agent, ...script));

let speaking: Conversation[];
let viewers: { common: SseReader; newer: SseReader };
let answered: Conversation[];
let asked: Conversation[];
let hooked: Conversation[];
let sleeping: Conversation[];
let late: Conversation;
let unbegun: SseReader;
let caller: WorkflowHandle;

// One kill hits all conversations: a worker takes a while to start.
beforeAll(async () => {
  const { url, redis } = product;
  const step = { say: 'Step one.', calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] };
  answered = openAll({ say: 'May I?', calls: [charge('c1')] });
  asked = openAll({ say: 'May I?', calls: [charge('c1')] });
  hooked = openAll({ calls: [WAITS] });
  sleeping = openAll(
    { calls: [{ tool: 'sleep', id: 'c1', args: { ms: 300_000 } }] },
    { say: 'Awake.' },
  );
  const ids = await Promise.all(answered.map(({ client }) => untilAsked(client)));
  for (const { client } of asked) await untilAsked(client);
  const hooks = await Promise.all(hooked.map(({ client }) => untilSent(client, url)));
  for (const { reply } of hooked) await reply;
  for (const { sessionId } of sleeping) {
    const stateOf = async () => (await storedCall(redis, sessionId, 'c1'))?.state;
    await until('the tool has started', async () => (await stateOf()) === 'started');
  }
  caller = await callAgent();
  speaking = CLIENTS.flatMap(([, library]) =>
    LAB_AGENTS.map((agent) => open(library, agent, step, changesItsMind)),
  );
  await until('all see the first attempt', () =>
    speaking.every(({ client }) => client.reply().includes('The first attempt')),
  );
  const stream = `${url}/api/chat/${speaking[0]?.sessionId ?? ''}/stream`;
  viewers = {
    common: await readSse(stream),
    newer: await readSse(stream, { headers: { 'x-ai-sdk-profile': 'v7' } }),
  };
  await until('viewers see it as well', () =>
    Object.values(viewers).every((reader) => reader.text().includes('The first attempt')),
  );
  // The tool `ask` waits for two seconds.
  late = open(CLIENT_7, 'lab', { calls: [{ tool: 'ask', id: 'c1', args: { question: '?' } }] });
  await late.reply;

  const leases = await redis.keys('hx:lease:{default:*}:held');
  expect(leases).not.toEqual([]);
  await product.kill9Worker();
  // The lease outlasts the test, so only the supervisor's word that the worker has ended counts.
  for (const held of leases) await redis.set(held, '1', 'PX', 600_000);
  for (const [index, { client, sessionId }] of answered.entries()) {
    await client.chat.addToolApprovalResponse({ id: ids[index] ?? '', approved: true });
    await until('the answer is stored', async () => {
      const { messages } = await loadSnapshot(url, sessionId);
      return !JSON.stringify(messages).includes('approval-requested');
    });
    expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'approval-responded' }]);
  }
  for (const hook of hooks) {
    for (const value of [1, 2]) {
      expect(await callHook(hook, JSON.stringify({ value }))).toEqual([200, 'accepted']);
    }
  }
  const { text } = toScript({ say: 'Here I am.' });
  unbegun = await postMessage(url, newSessionId(), { id: 'u1', text });
  await unbegun.gets('start');
  // Without a worker, only a reader of the session can settle it.
  await until('the deadline has passed', async () => {
    const { pending } = await loadSnapshot(url, late.sessionId);
    return pending?.length === 0;
  });
  await product.startWorker();
  for (const held of leases) {
    const isTaken = async () => (await redis.exists(held.replace(/held$/, 'work'))) === 0;
    await until('the work is taken over long before heartbeats are missed', isTaken);
  }
});

/** Starts an app's workflow that runs an agent; resolves when the agent speaks. */
async function callAgent(): Promise<WorkflowHandle> {
  const sessionId = newSessionId();
  const script = [{ say: 'Slowly and in many pieces.', deltas: 20, everyMs: 400 }];
  const handle = await openTemporal().workflow.start('runAgent', {
    workflowId: `caller-${randomUUID()}`,
    taskQueue: product.taskQueue,
    args: ['lab', JSON.stringify({ script }), { sessionId }],
  });
  const statusOf = async () => (await storedRecord(product.redis, sessionId))?.run.status;
  await until('the agent speaks', async () => (await statusOf()) === 'running');
  return handle;
}

describe('kill -9 of the worker', () => {
  it('a reply whose worker is killed has the text of the second attempt only', async () => {
    const { url } = product;
    const { common, newer } = viewers;
    // The server asks capable clients to drop the attempt; it disconnects others, which return.
    expect(await newer.done).toBe('ended');
    expect(newer.parts.map(({ type }) => type)).toContain('reset-step');
    expect(newer.text()).toBe(`Step one.${SECOND}`);
    expect(await common.done).toBe('broken off');
    expect(common.text()).not.toContain(SECOND);
    for (const { library, agent, sessionId, client, reply } of speaking) {
      await reply;
      expect(client.chat.status).toBe('error');
      const { client: again, resumed } = await loadChat(library, { url, sessionId, agent });
      await resumed;
      await untilRests(again, url);
      expect(again.errors).toEqual([]);
      expect(again.reply()).toBe(`Step one.${SECOND}`);
      await expectStoredAsShown(again, url, sessionId);
      // The model does not see the dead attempt's text, either.
      await again.chat.sendMessage(toScript({ quote: true }));
      expect(again.reply()).toContain(`{"role":"assistant","text":"${SECOND}"}`);
    }
  });

  it('an approval can be answered while no worker runs', async () => {
    const { url } = product;
    for (const { client, sessionId } of answered) {
      await untilRests(client, url);
      expect(client.reply()).toBe('May I?done');
      expect(client.posts()).toBe(2);
      expect(await chargesOf(product.redis, `${sessionId}:`)).toEqual({ c1: 1 });
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('an approval reaches the successor of the killed worker', async () => {
    const { url } = product;
    for (const { agent, sessionId } of asked) {
      const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId, agent });
      await resumed;
      const id = await untilAsked(again);
      await again.chat.addToolApprovalResponse({ id, approved: true });
      await untilRests(again, url);
      expect(again.reply()).toBe('May I?done');
      expect(await chargesOf(product.redis, `${sessionId}:`)).toEqual({ c1: 1 });
      await expectStoredAsShown(again, url, sessionId);
    }
  });

  it('a webhook that is called while no worker runs gives its tool the first payload, once', async () => {
    for (const { sessionId } of hooked) {
      const { messages } = await untilEnded(product.url, sessionId);
      expect(messages.slice(1).map(textOf)).toEqual(['done']);
      expect(callsOf(messages[1])).toMatchObject([
        { toolCallId: 'w1', state: 'output-available', output: { value: 1 } },
      ]);
    }
  });

  it('a tool whose worker is killed is not repeated, its outcome is unknown', async () => {
    const { url, redis } = product;
    for (const { client, sessionId, reply } of sleeping) {
      await reply;
      await untilRests(client, url);
      expect(client.reply()).toBe('Awake.');
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { state: 'output-error', errorText: expect.stringContaining('not known') },
      ]);
      const rows = await redis.lrange(`hx:{${sessionId}}:rows`, 0, -1);
      expect(rows.join('\n')).toContain('"errorCode":"tool_outcome_unknown"');
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('a message whose worker is killed before it begins is answered by the next one', async () => {
    expect(await unbegun.done).toBe('ended');
    expect(unbegun.text()).toBe('Here I am.');
  });

  it('a client tool whose time is over while no worker runs gets no late answer', async () => {
    const { url } = product;
    const { sessionId } = late;
    const { messages } = await untilEnded(url, sessionId);
    expect(callsOf(messages.at(-1))).toMatchObject([
      { state: 'output-error', errorText: 'client_tool_deadline_exceeded' },
    ]);
    const answer = await postJson(`${url}/api/chat/${sessionId}/pending/c1`, { result: 'so' });
    const { code } = (await answer.json()) as { code?: string };
    expect([answer.status, code]).toEqual([409, 'late_answer_after_timeout']);
  });

  it('a workflow whose worker is killed while its agent speaks gets the result of that one run', async () => {
    const result = (await caller.result()) as { runId: string };
    expect(result).toMatchObject({ status: 'completed', text: 'Slowly and in many pieces.' });
    expect(result.runId).toMatch(/:1-/);
  });
});
