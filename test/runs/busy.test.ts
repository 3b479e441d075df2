import { plantSilence } from '../support/stored-record.js';
import { randomBytes } from 'node:crypto';
import type { BusyPolicy } from '../../protocol/replies.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { BeginResult, RunRecord } from '../../store/contract/runs.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { useRuns } from '../support/run-harness.js';
import { userMessage } from '../support/session-driver.js';
import { until } from '../support/until.js';

const { agent, reached } = createGatedAgent();

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
async function held(): Promise<[id: string, run: RunRecord]> {
  const gate = randomBytes(4).toString('hex');
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent.name, `call ${gate}`);
  await reached(gate);
  return [id, run];
}

/** Waits until no run is active and no message waits, and expects the newest reply. */
async function expectReply(sessionId: string, text: string): Promise<void> {
  await until('the session rests', async () => {
    const record = await stores.store.sessions.read(sessionId);
    return record?.status === 'completed' && record.queued === 0;
  });
  const parts = [{ type: 'text', text }];
  expect(await stores.store.sessions.rows(sessionId, -1)).toMatchObject([
    { role: 'assistant', parts },
  ]);
}

it('the sweep begins a queued run whose worker died between two runs', async () => {
  const [id, { runId }] = await held();
  await send(id, 'q', 'forgotten', 'queue');
  // The test stops through the store alone, so no process begins the next message.
  const ended = { kind: 'ended', runId, next: true };
  expect(await stores.store.runs.stop(id, { mode: 'interrupt' })).toEqual(ended);
  const waits = { status: 'interrupted', queued: 1 };
  expect(await stores.store.sessions.read(id)).toMatchObject(waits);
  await runs.sweep(id);
  await expectReply(id, 'You said forgotten');
});

it('the next access ends a silent run that Temporal has closed, and the message is answered', async () => {
  const [id, run] = await held();
  await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate('by an operator');
  expect(await send(id, 'a', 'too early', 'reject')).toEqual({ kind: 'busy' });
  await plantSilence(stores.redis, id, Date.now() - 6_000);
  expect(await send(id, 'b', 'are you there?', 'reject')).toMatchObject({ kind: 'begun' });
  await expectReply(id, 'You said are you there?');
});
