import { plantSilence } from '../support/stored-record.js';
import { randomBytes } from 'node:crypto';
import { editQueuedMessage } from '../../ai-sdk/index.js';
import type { BusyPolicy } from '../../protocol/replies.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { BeginResult, RunRecord } from '../../store/contract/runs.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { useRuns } from '../support/run-harness.js';
import { userMessage } from '../support/session-driver.js';
import { until } from '../support/until.js';

const { agent, open, reached } = createGatedAgent();

const { runs, stores } = useRuns([agent]);

function send(
  sessionId: string,
  id: string,
  text: string,
  policy: BusyPolicy,
): Promise<BeginResult> {
  const messages = [userMessage(id, text)];
  const input = { sessionId, agent: agent.name, owner: 'ann', tenant: 'acme' };
  return runs.executor.execute({ ...input, messages, policy });
}

/** Begins a run that a gate holds; returns the gate's name first. */
async function held(verb: 'speak' | 'call'): Promise<[gate: string, id: string, run: RunRecord]> {
  const gate = randomBytes(4).toString('hex');
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent.name, `${verb} ${gate}`);
  await reached(gate);
  return [gate, id, run];
}

/** Returns the transcript with its speakers, tool results marked. */
async function transcriptOf(sessionId: string): Promise<string[]> {
  return (await stores.store.sessions.rows(sessionId, 0)).map((row) => {
    if (row.role === 'tool') return 'tool';
    const text = row.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return `${row.role}: ${text}`;
  });
}

/** Waits until no run is active and no message waits. */
async function untilRests(sessionId: string): Promise<void> {
  await until(
    'the session rests',
    async () => {
      const record = await stores.store.sessions.read(sessionId);
      return record?.status === 'completed' && record.queued === 0;
    },
    30_000,
  );
}

describe('messages that come while a run is active', () => {
  it('messages that arrive while a run is active are queued, edited and removed, and answered in order', async () => {
    const [gate, id] = await held('speak');
    for (const [message, text] of [
      ['a', 'first'],
      ['b', 'secnod'],
      ['c', 'never mind'],
    ] as const) {
      expect(await send(id, message, text, 'queue')).toMatchObject({ kind: 'queued' });
    }
    expect(await send(id, 'b', 'secnod', 'queue')).toEqual({ kind: 'accepted' });
    await editQueuedMessage(stores.store, { sessionId: id, id: 'b', text: 'second' });
    await stores.store.queue.remove({ sessionId: id, messageId: 'c', now: Date.now() });
    open(gate);
    await untilRests(id);
    expect(await transcriptOf(id)).toEqual([
      `user: speak ${gate}`,
      'assistant: Once upon a time',
      'user: first',
      'assistant: You said first',
      'user: second',
      'assistant: You said second',
    ]);
  });

  it('steer a run into another direction, after the results of its tools', async () => {
    const [gate, id, run] = await held('call');
    expect(await send(id, 's', 'rather this', 'steer')).toMatchObject({
      kind: 'steered',
      runId: run.runId,
    });
    open(gate);
    expect(await runs.result(run)).toMatchObject({ status: 'completed', steps: 2 });
    expect(await transcriptOf(id)).toEqual([
      `user: call ${gate}`,
      'assistant: ',
      'tool',
      'user: rather this',
      'assistant: You said rather this',
    ]);
    const ids = (await stores.store.sessions.rows(id, 0)).flatMap((row) =>
      row.role === 'assistant' ? [row.messageId] : [],
    );
    expect(ids).toEqual(['msg-1', 'msg-3']);
  });

  it('interrupt a run and are answered before what was queued', async () => {
    const [gate, id, run] = await held('speak');
    await send(id, 'q', 'later', 'queue');
    expect(await send(id, 'i', 'now', 'interrupt')).toMatchObject({ kind: 'interrupting' });
    expect(await runs.result(run)).toMatchObject({ status: 'interrupted' });
    await untilRests(id);
    expect(await transcriptOf(id)).toEqual([
      `user: speak ${gate}`,
      'assistant: Once upon',
      'user: now',
      'assistant: You said now',
      'user: later',
      'assistant: You said later',
    ]);
  });
});

describe('a queue that no process begins', () => {
  it('the sweep begins a queued run whose worker died between two runs', async () => {
    const [, id, run] = await held('call');
    await send(id, 'q', 'forgotten', 'queue');
    // The test stops through the store alone, so no process begins the next message.
    expect(await stores.store.runs.stop(id, { mode: 'interrupt' })).toEqual({
      kind: 'ended',
      runId: run.runId,
      next: true,
    });
    expect(await stores.store.sessions.read(id)).toMatchObject({
      status: 'interrupted',
      queued: 1,
    });
    await runs.sweep(id);
    await untilRests(id);
    expect((await transcriptOf(id)).at(-1)).toBe('assistant: You said forgotten');
  });

  it('the next message begins a queued run, and is refused', async () => {
    const [, id] = await held('call');
    await send(id, 'q', 'forgotten', 'queue');
    await stores.store.runs.stop(id, { mode: 'interrupt' });
    expect(await send(id, 'z', 'me first', 'reject')).toEqual({ kind: 'busy' });
    await untilRests(id);
    expect((await transcriptOf(id)).at(-1)).toBe('assistant: You said forgotten');
  });
});

describe('a run that says nothing for long', () => {
  it('the next access ends a silent run that Temporal has closed, and the message is answered', async () => {
    const [, id, run] = await held('call');
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate('by an operator');
    expect(await send(id, 'a', 'too early', 'reject')).toEqual({ kind: 'busy' });
    await plantSilence(stores.redis, id, Date.now() - 6_000);
    expect(await send(id, 'b', 'are you there?', 'reject')).toMatchObject({ kind: 'begun' });
    await untilRests(id);
    expect((await transcriptOf(id)).at(-1)).toBe('assistant: You said are you there?');
  });

  it('the next access starts a silent run that Temporal does not know, and the message waits', async () => {
    const id = runs.newSessionId();
    const input = { sessionId: id, agent: agent.name, owner: 'ann', tenant: 'acme' };
    const old = Date.now() - 10_000;
    await stores.store.runs.begin({
      ...input,
      nonce: 'lost',
      messages: [userMessage('a', 'hello')],
      now: old,
    });
    expect(await send(id, 'b', 'again', 'queue')).toMatchObject({ kind: 'queued' });
    await untilRests(id);
    expect(await transcriptOf(id)).toEqual([
      'user: hello',
      'assistant: You said hello',
      'user: again',
      'assistant: You said again',
    ]);
  });
});
