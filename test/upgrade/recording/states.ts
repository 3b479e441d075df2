import type { NewCall } from '../../../stores/contract/call-record.js';
import type { StoresUnderTest } from '../../../stores/conformance/index.js';
import { heldCall, newSubAgent } from '../../../stores/conformance/tree.js';
import { drive, newCall, newNonce, userMessage } from '../../support/session-driver.js';
import type { SessionDriver } from '../../support/session-driver.js';

/** Brings a new session of release 0.2.0 into a state; `today`: the same session as this release has it. */
type Bring = (
  session: SessionDriver,
  stores: StoresUnderTest,
  today: SessionDriver,
) => Promise<unknown>;

/** Deadlines that do not pass while a dump is of use. */
const CENTURY_MS = 100 * 365 * 24 * 3_600_000;
const LARGE = 'x'.repeat(70_000);
const USAGE = { inputTokens: 12, outputTokens: 34, costMicroUsd: 56 };

/** A turn of one step that ends its run. */
async function speakTurn(session: SessionDriver, id: string): Promise<string> {
  const { runId } = await session.newRun(id);
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, `said to ${id}. `);
  await session.commit(writer, { usage: USAGE, finishReason: 'stop' });
  return runId;
}

/** An active run: a call that has started and written a chunk, one that has not started, one that is done. */
async function work(session: SessionDriver, { streamManager }: StoresUnderTest): Promise<void> {
  await speakTurn(session, 'u1');
  const { runId } = await session.newRun('u2');
  const calls = ['done', 'large', 'started', 'open'].map((id) => newCall(id, 'server'));
  await session.ask(runId, 1, calls);
  await session.start(runId, 1, 'done');
  await session.finishCall(runId, 1, 'done', { items: [] });
  await session.start(runId, 1, 'large');
  await session.finishCall(runId, 1, 'large', LARGE);
  await session.start(runId, 1, 'started');
  const by = { agentId: session.id, agentType: 'tester', step: 1, timestamp: Date.now() };
  const event = {
    type: 'custom',
    ...by,
    toolCallId: 'started',
    eventName: 'e',
    data: [1],
  } as const;
  await streamManager.append(session.callWriter(runId, 1, 'started', 1), 1, [event]);
}

/** A run whose second step has written half of its reply. @returns its id */
async function speak(session: SessionDriver): Promise<string> {
  const { runId } = await session.newRun('u1');
  await session.ask(runId, 1, [newCall('c1', 'server')]);
  await session.start(runId, 1, 'c1');
  await session.finishCall(runId, 1, 'c1', 'done');
  const writer = session.writer(runId, 2, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'half ');
  await session.say(writer, 2, 'a word');
  return runId;
}

async function ask(session: SessionDriver, deadlineMs: number): Promise<void> {
  const { runId } = await session.newRun('u1');
  const late = { deadlineMs };
  const calls: NewCall[] = [newCall('pay', 'approval', late), newCall('look', 'client', late)];
  await session.ask(runId, 1, [...calls, newCall('work', 'server')]);
  await session.start(runId, 1, 'work');
  await session.finishCall(runId, 1, 'work', 'worked');
}

async function delegate(session: SessionDriver, stores: StoresUnderTest): Promise<void> {
  const { runId } = await session.newRun('u1');
  const made = ['d1', 'd2'].map((id) => newSubAgent(session.id, id));
  await session.ask(
    runId,
    1,
    made.map(({ call }) => call),
  );
  for (const { call, child } of made) {
    const parent = { sessionId: session.id, runId, toolCallId: call.toolCallId };
    await stores.store.runs.beginChild({ child, parent, now: Date.now() });
    const below = drive(stores, child.sessionId);
    await below.ask(child.runId, 1, [heldCall(child.runId, `ask-${call.toolCallId}`)]);
  }
}

async function talkAtLength(session: SessionDriver, { store }: StoresUnderTest): Promise<void> {
  for (let n = 1; n <= 12; n += 1) {
    await speakTurn(session, `u${String(n)}`);
    await store.documents.save(session.id, { customState: { turns: n }, version: n - 1 });
  }
}

export const STATES: Record<string, Bring> = {
  completed: async (session, { store }) => {
    await speakTurn(session, 'u1');
    await store.documents.save(session.id, { customState: { memory: ['a', {}] }, version: 0 });
    const { runId } = await session.newRun('u2');
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer, { usage: USAGE, output: { text: LARGE, items: [] } });
  },
  failed: async (session) => {
    await speakTurn(session, 'u1');
    const { runId } = await session.newRun('u2');
    await session.claim(session.writer(runId, 1, 1));
    const error = { message: 'out of paper', code: 'provider_error', retryable: true };
    await session.end(runId, 'failed', { error });
  },
  interrupted: async (session) => {
    const runId = await speak(session);
    await session.stop({ reason: 'enough', by: 'ann' });
    await session.end(runId, 'interrupted', { step: 2 });
  },
  aborted: async (session) => {
    await session.newRun('u1');
    await session.stop({ mode: 'abort' });
  },
  stopping: async (session) => {
    await speak(session);
    await session.stop({ reason: 'enough' });
  },
  speaking: speak,
  working: work,
  asking: (session) => ask(session, CENTURY_MS),
  expired: (session) => ask(session, 1),
  delegating: delegate,
  queued: async (session) => {
    await speak(session);
    await session.enqueue('u2');
    await session.steer('u3');
    await session.enqueue('u4');
  },
  long: talkAtLength,
  rewound: async (session, stores) => {
    await talkAtLength(session, stores);
    const messages = [userMessage('u9', 'said otherwise')];
    const again = await session.retry({ messageId: 'u9', messages });
    if (again.kind !== 'rewound') throw new Error(`retry replied ${again.kind}`);
    await session.end(again.run.runId, 'completed');
    await speakTurn(session, 'u13');
    await stores.store.staging.stage(session.id, 's1', {
      toolCallId: 'c',
      patches: [{ op: 'add', path: '/staged', value: [] }],
    });
  },
  branched: async (session, { store }) => {
    await store.sessions.branch({
      ...{ sessionId: session.id, agent: 'tester', owner: 'ann', nonce: newNonce() },
      rows: [{ role: 'user', id: 'u1', parts: [{ type: 'text', text: 'hello' }] }],
      messages: [{ id: 'u1', hash: 'hello' }],
      turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
      visibleMessages: 1,
      state: { copied: true },
      now: Date.now(),
    });
  },
  'mixed-turns': async (session, _, today) => {
    for (const id of ['u1', 'u2']) await speakTurn(today, id);
    for (const id of ['u3', 'u4', 'u5']) await speakTurn(session, id);
  },
  'mixed-edit': async (session, _, today) => {
    for (const id of ['u1', 'u2', 'u3']) await speakTurn(today, id);
    const messages = [userMessage('h2'), userMessage('u2', 'said otherwise')];
    const again = await session.retry({ messageId: 'u2', messages });
    if (again.kind !== 'rewound') throw new Error(`retry replied ${again.kind}`);
    await session.end(again.run.runId, 'completed');
  },
  'mixed-attempts': async (session, stores, today) => {
    const { runId } = await session.newRun('u1');
    const writer = today.writer(runId, 1, 1);
    await today.claim(writer);
    await today.say(writer, 1, 'lost');
    await stores.store.steps.takeOver({ sessionId: session.id, runId, name: writer.name });
  },
  'mixed-calls': async (session, stores, today) => {
    const { runId } = await session.newRun('u1');
    await session.ask(runId, 1, [newCall('c1', 'server', { idempotent: true })]);
    const tell = (token: number, driver: SessionDriver, streams: StoresUnderTest) =>
      streams.streamManager.append(driver.callWriter(runId, 1, 'c1', token), 1, [
        {
          ...{ type: 'custom', agentId: session.id, agentType: 'tester', step: 1, timestamp: 1 },
          ...{ toolCallId: 'c1', eventName: 'attempt', data: token },
        } as const,
      ]);
    await today.start(runId, 1, 'c1', 1);
    await session.start(runId, 1, 'c1', 2);
    await tell(2, session, stores);
  },
  'mixed-resumed': async (session, _, today) => {
    const runId = await speak(today);
    await today.end(runId, 'interrupted', { step: 2 });
    await speakTurn(session, 'u2');
    const { runId: last } = await session.newRun('u3');
    const writer = session.writer(last, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'never finished');
    await session.end(last, 'interrupted');
  },
};
