import { workflowIdOf } from '../../protocol/ids.js';
import type { AgentState, CallRef, RunInput } from '../../protocol/run.js';
import { describeRun } from '../../workflows/operators-view.js';
import { useRuns } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { until } from '../support/until.js';

const input: RunInput = {
  sessionId: 's',
  runId: 's:1-a',
  agent: 'helper',
  turn: 2,
  maxSteps: 5,
  searchAttributes: true,
  model: 'openai:gpt-5',
  sessionUrl: 'http://page/s',
};
const call: CallRef = { toolCallId: 'c1', toolName: 'refund', kind: 'approval' };
const at = (extra: Partial<AgentState>): AgentState => ({
  runId: 's:1-a',
  step: 3,
  phase: 'waiting',
  waitingFor: [call],
  ...extra,
});

describe('the details of a run', () => {
  it('the details of a run show its state, its questions and their time, its usage, and its page', () => {
    const spent = { tokens: 1_234_567, microUsd: 1_234_000 };
    expect(describeRun(input, at({ waitingSince: 0, spent }), [call]).split('\n\n')).toEqual([
      '**helper** · turn 2 · step 3 · waiting for a person',
      '- `refund` (approval) `c1`',
      'Since 1970-01-01T00:00:00.000Z',
      'Used so far: 1,234,567 tokens, $1.23',
      'Model: openai:gpt-5',
      '[Conversation](http://page/s)',
    ]);
  });

  it('the details of a sub-agent that begins later show when, for which call, and its trace', () => {
    const parent = { sessionId: 's', runId: 's:1-p', toolCallId: 'd', depth: 1 };
    const later = { ...input, startAt: 5_000, parent, traceUrl: 'http://traces/t' };
    const start = at({ phase: 'start', step: 0 });
    expect(describeRun(later, start, []).split('\n\n')).toEqual([
      '**helper** · turn 2 · step 0 · waiting for its start',
      'Begins at 1970-01-01T00:00:05.000Z',
      'Sub-agent of `s:1-p`, for `d`',
      'Model: openai:gpt-5',
      '[Conversation](http://page/s)',
      '[Trace](http://traces/t)',
    ]);
  });

  it.each([
    [{ tokens: 0 }, '0 tokens'],
    [{ tokens: 999, microUsd: 0 }, '999 tokens, $0.0000'],
    [{ tokens: 1_000, microUsd: 1_250 }, '1,000 tokens, $0.0013'],
    [{ tokens: 12_345, microUsd: 10_000 }, '12,345 tokens, $0.01'],
  ])('the details show for %j: %s', (spent, text) => {
    expect(describeRun(input, at({ spent }), [])).toContain(`Used so far: ${text}\n`);
  });
});

const { agent } = createTestAgent();
const pricing = { inputPerMTok: 1_000, outputPerMTok: 1_000 };
const { runs } = useRuns([{ ...agent, llmConfig: { ...agent.llmConfig, pricing } }]);

it('a run in the Temporal UI shows the usage and cost of its model calls', async () => {
  const id = runs.newSessionId();
  const wish = JSON.stringify({ calls: [{ tool: 'charge', id: `${id}-c` }] });
  const run = await runs.begin(id, 'tester', wish);
  await runs.untilStatus(id, 'waiting_approval');
  const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
  const details = async (): Promise<string> => {
    const metadata = await handle.query<{ currentDetails?: string }>(
      '__temporal_workflow_metadata',
    );
    return metadata.currentDetails ?? '';
  };
  // The store knows of the wait before the workflow does.
  await until('the workflow waits', async () => (await details()).includes('waiting for'));
  expect(await details()).toContain('Used so far: 5 tokens, $0.0050');
  expect(await handle.query<AgentState>('agentState')).toMatchObject({
    phase: 'waiting',
    spent: { tokens: 5, microUsd: 5_000 },
  });
  await runs.decide(run, `${id}-c`, true);
  await runs.result(run);
  expect(await details()).toContain('Used so far: 10 tokens, $0.01');
});
