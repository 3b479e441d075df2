import { plantSilence } from '../support/stored-record.js';
import { randomBytes } from 'node:crypto';
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

/** Begins a run whose tool a gate holds. */
async function held(): Promise<[id: string, run: RunRecord, gate: string]> {
  const gate = randomBytes(4).toString('hex');
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent.name, `call ${gate}`);
  await reached(gate);
  return [id, run, gate];
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
  await until('the session rests', async () => {
    const record = await stores.store.sessions.read(sessionId);
    return record?.status === 'completed' && record.queued === 0;
  });
}

it('a message steers a run into another direction, after the results of its tools', async () => {
  const [id, run, gate] = await held();
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
});

describe('a queue that no process begins', () => {
  it('the sweep begins a queued run whose worker died between two runs', async () => {
    const [id, run] = await held();
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
    const [id] = await held();
    await send(id, 'q', 'forgotten', 'queue');
    await stores.store.runs.stop(id, { mode: 'interrupt' });
    expect(await send(id, 'z', 'me first', 'reject')).toEqual({ kind: 'busy' });
    await untilRests(id);
    expect((await transcriptOf(id)).at(-1)).toBe('assistant: You said forgotten');
  });
});

describe('a run that says nothing for long', () => {
  it('the next access ends a silent run that Temporal has closed, and the message is answered', async () => {
    const [id, run] = await held();
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
