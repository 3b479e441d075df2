import { createLabAgent } from '../../examples/lab/agent.js';
import { useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';

/** Charges by idempotency key. */
const charged: string[] = [];
const countCharge = (key: string): Promise<number> => Promise.resolve(charged.push(key));

const { runs, stores } = useRuns([createLabAgent({ countCharge })]);

const delegate = (id: string, script: object[]): object => ({
  tool: 'delegate',
  id,
  args: { script },
});
const charge = { calls: [{ tool: 'charge', id: 'c1', args: { amount: 1 } }] };

/** The call that people are asked about now. */
async function untilAsked(sessionId: string) {
  return until('a question is asked', async () => {
    const record = await stores.store.sessions.read(sessionId);
    if (record?.stream !== 'paused') return undefined;
    const { openCalls } = (await stores.store.sessions.view(sessionId)) ?? { openCalls: [] };
    return openCalls.find(({ state, spec }) => state === 'waiting' && spec.toolName === 'charge');
  });
}

async function approve(sessionId: string): Promise<string> {
  const { spec } = await untilAsked(sessionId);
  const { toolCallId } = spec;
  await runs.executor.submitToolResult({
    sessionId,
    kind: 'approval-response',
    toolCallId,
    approved: true,
  });
  return toolCallId;
}

describe('a turn with sub-agents that is done again', () => {
  it('a repeated turn begins its sub-agents again, with new sessions and ids, and asks people again', async () => {
    const sessionId = runs.newSessionId();
    const script = [{ calls: [delegate('d1', [charge, { say: 'paid' }])] }, { say: 'all paid' }];
    const run = await runs.begin(sessionId, 'lab', JSON.stringify({ script }));
    const first = await approve(sessionId);
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });

    const again = await runs.executor.retry({ sessionId, by: 'ann' });
    const second = await approve(sessionId);
    expect(await runs.result(again)).toEqual({ status: 'completed', steps: 2 });
    expect(second).not.toBe(first);
    expect(charged).toHaveLength(2);
    expect(new Set(charged).size).toBe(2);
    const rows = await stores.store.sessions.rows(sessionId, 0);
    const results = rows.filter(({ role }) => role === 'tool');
    expect(results).toMatchObject([
      { toolName: 'charge', display: true, toolCallId: second },
      { toolName: 'delegate', output: 'paid' },
    ]);
    expect(rows.at(-1)).toMatchObject({ parts: [{ type: 'text', text: 'all paid' }] });
    const chunks = await stores.streamManager.getAllChunks(sessionId);
    const started = chunks.flatMap((chunk) =>
      chunk.type === 'subagent_start' ? [chunk.subSessionId] : [],
    );
    // The reply of the first run's sub-agent is gone with its turn.
    expect(started).toHaveLength(1);
  });

  it('a turn can be stopped while a sub-agent waits, and repeated from there', async () => {
    const sessionId = runs.newSessionId();
    const script = [{ calls: [delegate('d1', [charge, { say: 'paid' }])] }, { say: 'all paid' }];
    const run = await runs.begin(sessionId, 'lab', JSON.stringify({ script }));
    await untilAsked(sessionId);
    await runs.executor.stop(sessionId, { mode: 'interrupt' });
    expect(await runs.result(run)).toMatchObject({ status: 'interrupted' });

    const again = await runs.executor.retry({ sessionId });
    await approve(sessionId);
    expect(await runs.result(again)).toEqual({ status: 'completed', steps: 2 });
    expect((await stores.store.sessions.rows(sessionId, -1))[0]).toMatchObject({
      role: 'assistant',
    });
  });
});
