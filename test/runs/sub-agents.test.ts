import { defaultPayloadConverter } from '@temporalio/common';
import { createLabAgent } from '../../examples/lab/agent.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunInput } from '../../protocol/run.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import { charge, delegate } from '../support/lab-calls.js';
import { useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';

/** Idempotency keys of the charges. */
const charged: string[] = [];
const { runs, stores } = useRuns([
  createLabAgent({ countCharge: async (key) => charged.push(key) }),
]);

const script = (...entries: object[]): string => JSON.stringify({ script: entries });
/** Waits until people are asked about the sub-agent's call. */
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

/** Reads the input of a run's workflow. */
async function inputOf(runId: string): Promise<Partial<RunInput>> {
  const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  const { input } = events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  return defaultPayloadConverter.fromPayload(input?.payloads?.[0] ?? {});
}

async function attributesOf(runId: string): Promise<Record<string, unknown>> {
  const handle = runs.client.workflow.getHandle(workflowIdOf(runId));
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(
    typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
  );
}

describe('a sub-agent', () => {
  it('whose workflow is terminated while it waits is settled as lost, and the parent continues', async () => {
    const sessionId = runs.newSessionId();
    const { start } = runs.workflows;
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const settings = { sealsFailures: true, traceparent, traceUrl: 'http://traces/t' };
    jest
      .spyOn(runs.workflows, 'start')
      .mockImplementationOnce((input, labels) => start({ ...input, ...settings }, labels));
    const run = await runs.begin(
      sessionId,
      'lab',
      script({ calls: [delegate('d1', { calls: [charge('c1')] })] }),
    );
    const { spec } = await untilAsked(sessionId, 'c1');
    // The sub-agent runs with its parent's settings.
    const { searchAttributes, model, sessionUrl, hasLeases } = await inputOf(run.runId);
    const same = { searchAttributes, model, sessionUrl, hasLeases, ...settings };
    expect(await inputOf(spec.runId)).toMatchObject(same);
    const labels = { AgentTenant: 'acme', AgentModel: 'fake:1', AgentTurn: 1 };
    expect(await attributesOf(run.runId)).toMatchObject({
      ...labels,
      AgentStatus: 'waiting_children',
    });
    expect(await attributesOf(spec.runId)).toMatchObject({ ...labels, AgentName: 'lab-child' });
    await runs.client.workflow.getHandle(workflowIdOf(spec.runId)).terminate('by a test');
    await runs.untilStatus(sessionId, 'completed');
    expect(await runs.result(run)).toMatchObject({ trace: settings.traceUrl });
    expect(await resultOf(sessionId, 'd1')).toMatchObject({
      errorCode: 'framework_subagent_lost',
    });
    expect(await runs.decide({ ...run, runId: spec.runId }, 'c1', true)).toBe('already_completed');
    const ended = await stores.streamManager.getAllChunks(sessionId);
    const ends = ended.filter((chunk) => chunk.type === 'tool_end').map((end) => end.toolCallId);
    expect(ends).toEqual(['c1', 'd1']);
  });

  it('whose wake-up was lost is woken by a sweep', async () => {
    const sessionId = runs.newSessionId();
    const run = await runs.begin(
      sessionId,
      'lab',
      script({ calls: [delegate('d1', { calls: [charge('c1')] }, { say: 'paid' })] }),
    );
    const { spec } = await untilAsked(sessionId, 'c1');
    // The wake-up is lost; a sweep repeats it.
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
  });

  it('whose call an operator answers at the conversation’s run goes on', async () => {
    const sessionId = runs.newSessionId();
    const calls = [delegate('d1', { calls: [charge('c1')] }, { say: 'paid' })];
    const run = await runs.begin(sessionId, 'lab', script({ calls }));
    await untilAsked(sessionId, 'c1');
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const answer = { toolCallId: 'c1' };
    expect(await handle.executeUpdate('approve', { args: [answer] })).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await resultOf(sessionId, 'd1')).toMatchObject({ output: 'paid' });
  });

  it('a sub-agent returns a result of its schema, and a failed one is an error', async () => {
    const sessionId = runs.newSessionId();
    const { runId } = await runs.begin(
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
    // Temporal reports the ends of children; a signal as well would lengthen the history.
    const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toEqual([]);
  });
});

type End = (run: string, child: string) => Promise<unknown>;
const handleOf = (id: string) => runs.client.workflow.getHandle(workflowIdOf(id));

it.each<[how: string, end: End]>([
  ["the sub-agent's is cancelled", (_, child) => handleOf(child).cancel()],
  ['it is cancelled', (run) => handleOf(run).cancel()],
  // Temporal cancels a sub-agent with the run that has started it.
  ['it is terminated', (run) => handleOf(run).terminate('by a test')],
  [
    'it is deleted',
    (run) =>
      runs.client.workflowService.deleteWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: workflowIdOf(run) },
      }),
  ],
])(
  'a workflow that an operator ends while its sub-agent asks stops the conversation, which answers again: %s',
  async (_how, end) => {
    const sessionId = runs.newSessionId();
    const calls = [delegate('d1', { calls: [charge('c1')] })];
    const { runId } = await runs.begin(sessionId, 'lab', script({ calls }));
    const { spec } = await untilAsked(sessionId, 'c1');
    await end(runId, spec.runId);
    await runs.untilStatus(sessionId, 'interrupted');
    const next = await runs.begin(sessionId, 'lab', script({ say: 'Back.' }));
    expect(await runs.result(next)).toMatchObject({ status: 'completed' });
  },
);

/** Waits for the charge that people are asked about. */
async function untilCharge(sessionId: string): Promise<OpenCall> {
  return until('a question is asked', async () => {
    const view = await stores.store.sessions.view(sessionId);
    if (view?.record.stream !== 'paused') return undefined;
    return view.openCalls.find(
      ({ state, spec }) => state === 'waiting' && spec.toolName === 'charge',
    );
  });
}

async function approve(sessionId: string): Promise<string> {
  const { toolCallId } = (await untilCharge(sessionId)).spec;
  const approval = { kind: 'approval-response', toolCallId, approved: true } as const;
  await runs.executor.submitToolResult({ sessionId, ...approval });
  return toolCallId;
}

it('a repeated turn begins its sub-agents again, with new sessions and ids, and asks people again', async () => {
  const sessionId = runs.newSessionId();
  const calls = [delegate('d1', { calls: [charge('c1')] }, { say: 'paid' })];
  const run = await runs.begin(sessionId, 'lab', script({ calls }, { say: 'all paid' }));
  const before = charged.length;
  const first = await approve(sessionId);
  expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });

  const again = await runs.executor.retry({ sessionId, by: 'ann' });
  const second = await approve(sessionId);
  expect(await runs.result(again)).toEqual({ status: 'completed', steps: 2 });
  expect(second).not.toBe(first);
  expect(charged).toHaveLength(before + 2);
  expect(new Set(charged).size).toBe(before + 2);
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
  // The retry has dropped the first sub-agent's reply with its turn.
  expect(started).toHaveLength(1);
});
