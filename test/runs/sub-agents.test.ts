import { createLabAgent } from '../../examples/lab/agent.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import { charge } from '../support/lab-calls.js';
import { useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';

const { runs, stores } = useRuns([createLabAgent({ countCharge: async () => 1 })]);
afterAll(() => stores.close());

const script = (...entries: object[]): string => JSON.stringify({ script: entries });
const delegate = (id: string, ...entries: object[]): object => ({
  tool: 'delegate',
  id,
  args: { script: entries },
});

/** The sub-agent's call, once people are asked about it. */
async function untilAsked(sessionId: string, toolCallId: string): Promise<OpenCall> {
  return until(`${toolCallId} is asked`, async () => {
    const record = await stores.store.sessions.read(sessionId);
    if (record?.stream !== 'paused') return undefined;
    const call = await stores.store.calls.read(sessionId, toolCallId);
    return call?.state === 'waiting' ? call : undefined;
  });
}

async function resultOf(sessionId: string, toolCallId: string): Promise<unknown> {
  const rows = await stores.store.sessions.rows(sessionId, 0);
  return rows.find((row) => row.role === 'tool' && row.toolCallId === toolCallId);
}

describe('a sub-agent', () => {
  it('whose workflow is terminated while it waits is settled as lost, and the parent continues', async () => {
    const sessionId = runs.newSessionId();
    const run = await runs.begin(
      sessionId,
      'lab',
      script({ calls: [delegate('d1', { calls: [charge('c1')] })] }),
    );
    const { spec } = await untilAsked(sessionId, 'c1');
    await runs.client.workflow.getHandle(workflowIdOf(spec.runId)).terminate('by a test');
    await runs.untilStatus(sessionId, 'completed');
    expect(await resultOf(sessionId, 'd1')).toMatchObject({
      errorCode: 'framework_subagent_lost',
    });
    expect(await runs.decide({ ...run, runId: spec.runId }, 'c1', true)).toBe('already_completed');
    const ended = await stores.streamManager.getAllChunks(sessionId);
    const ends = ended.filter((chunk) => chunk.type === 'tool_end').map((end) => end.toolCallId);
    expect(ends).toEqual(['c1', 'd1']);
  }, 60_000);

  it('whose wake-up was lost is woken by a sweep', async () => {
    const sessionId = runs.newSessionId();
    const run = await runs.begin(
      sessionId,
      'lab',
      script({ calls: [delegate('d1', { calls: [charge('c1')] }, { say: 'paid' })] }),
    );
    const { spec } = await untilAsked(sessionId, 'c1');
    // The wake-up is lost, and given again by a sweep.
    const now = Date.now();
    const stored = await stores.store.calls.settle({
      source: 'approval',
      sessionId,
      agentType: 'lab',
      toolCallId: 'c1',
      runId: spec.runId,
      decision: { approved: true, at: now },
      permitted: true,
      chunks: [],
      now,
    });
    expect(stored).toMatchObject({ kind: 'stored', resume: { approved: ['c1'] } });
    await runs.sweepUntil(
      sessionId,
      'the answer is overdue',
      ({ status }) => status === 'completed',
    );
    expect(await resultOf(sessionId, 'd1')).toMatchObject({ output: 'paid' });
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  }, 60_000);

  it('a sub-agent returns a result of its schema, and a failed one is an error', async () => {
    const sessionId = runs.newSessionId();
    await runs.begin(
      sessionId,
      'lab',
      script({
        calls: [{ tool: 'report', id: 'r1', args: {} }, delegate('d1', { fail: { status: 400 } })],
      }),
    );
    await runs.untilStatus(sessionId, 'completed');
    expect(await resultOf(sessionId, 'r1')).toMatchObject({ output: { answer: 42 } });
    const failed = await resultOf(sessionId, 'd1');
    expect(failed).toMatchObject({ errorCode: 'subagent_failed' });
    expect(failed).not.toHaveProperty('cause');
    const log = await stores.streamManager.read(sessionId, 0, 500);
    const ends = log.flatMap(({ message }) => (message.type === 'subagent_end' ? [message] : []));
    expect(ends.map(({ callId, cause }) => [callId, cause])).toEqual(
      expect.arrayContaining([
        ['r1', undefined],
        ['d1', 'provider_invalid_request'],
      ]),
    );
  }, 60_000);
});
