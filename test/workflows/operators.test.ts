import { z } from 'zod';
import { defineTool, type AgentDefinition } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { AgentState } from '../../protocol/run.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { argumentOf, summariesOf, type HistoryEvent } from '../support/history-of.js';
import { useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

const executed: unknown[] = [];

/** Creates an agent that makes the message's call, then says `done`. */
function createAskingAgent(): AgentDefinition {
  const model = fakeModel((_, { prompt }) => {
    const at = prompt.findLastIndex(({ role }) => role === 'user');
    if (prompt.length > at + 1) return parts.says('done');
    const content = prompt[at]?.content;
    const tool = Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : '';
    return parts.asks(parts.call('c1', tool, { amount: 5 }));
  });
  const inputSchema = z.object({ amount: z.number() });
  return fakeAgent('asking', model, {
    tools: [
      fakeTool(
        'pay',
        (input) => {
          executed.push(input);
          return input;
        },
        { inputSchema, requireApproval: true, deadlineMs: 60_000, timeoutMs: 70_000 },
      ),
      fakeTool('wire', (input) => input, {
        inputSchema,
        requireApproval: true,
        separateApprover: true,
        deadlineMs: 60_000,
      }),
      defineTool({ name: 'locate', description: 'Asks.', inputSchema, execute: 'client' }),
    ],
  });
}

describe('an operator in Temporal', () => {
  const { runs, stores } = useRuns([createAskingAgent()]);

  async function ask(tool: 'pay' | 'wire' | 'locate'): Promise<RunRecord> {
    const run = await runs.begin(runs.newSessionId(), 'asking', tool);
    await runs.untilStatus(run.sessionId, 'waiting_approval', 'waiting_tool');
    // The record has the question before the workflow has the reply of its step.
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    await until('the run waits', async () => {
      return (await handle.query<AgentState>('agentState')).phase === 'waiting';
    });
    return run;
  }

  const update = (run: RunRecord, name: string, given: unknown): Promise<unknown> =>
    runs.client.workflow
      .getHandle(workflowIdOf(run.runId))
      .executeUpdate<unknown, [unknown]>(name, { args: [given] })
      .catch((error: unknown) => ({
        refused: (error as { cause?: { type?: string } }).cause?.type,
      }));

  async function historyOf({ runId }: RunRecord): Promise<HistoryEvent[]> {
    return (await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory()).events ?? [];
  }

  async function resultOf({ sessionId }: RunRecord): Promise<unknown> {
    return (await stores.store.sessions.rows(sessionId, 2, 3))[0];
  }

  it('an operator approves, with another input', async () => {
    const run = await ask('pay');
    const changed = { toolCallId: 'c1', input: { amount: 3 }, reason: 'less', by: 'olga' };
    expect(await update(run, 'approve', changed)).toBe('stored');
    expect(await update(run, 'approve', changed)).toMatchObject({ refused: expect.any(String) });
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(executed).toContainEqual({ amount: 3 });
    expect(await resultOf(run)).toMatchObject({
      output: { amount: 3 },
      decision: { approved: true, by: 'olga', reason: 'less', via: 'temporal' },
    });
    const events = await historyOf(run);
    const said = ['step 1', 'deadline of step 1', 'answer to c1', 'pay', 'step 2'];
    expect(summariesOf(events)).toEqual(expect.arrayContaining(said));
    const asked = events.flatMap(({ activityTaskScheduledEventAttributes: each }) =>
      each?.activityType?.name === 'modelStep' ? [argumentOf(each)] : [],
    );
    const { sessionId, runId } = run;
    const ref = { sessionId, runId, agent: 'asking', turn: 1, maxSteps: 50, isLeased: true };
    expect(asked).toEqual([
      { ...ref, step: 1, known: 0 },
      { ...ref, step: 2, known: expect.any(Number) as unknown },
    ]);
    expect(asked).not.toContainEqual(expect.objectContaining({ step: 2, known: 0 }));
    const settings = events.flatMap(({ activityTaskScheduledEventAttributes: each }) => {
      const { activityType, heartbeatTimeout, startToCloseTimeout, retryPolicy } = each ?? {};
      const { initialInterval, maximumInterval, maximumAttempts } = retryPolicy ?? {};
      const times = [heartbeatTimeout, startToCloseTimeout, initialInterval, maximumInterval];
      const ms = times.map((time) => Number(time?.seconds) * 1_000 + (time?.nanos ?? 0) / 1e6);
      return each == null ? [] : [[activityType?.name, [...ms, maximumAttempts]] as const];
    });
    // Redis decides what may be repeated, so an activity is attempted until it replies.
    expect(Object.fromEntries(settings)).toEqual({
      modelStep: [90_000, 30 * 60_000, 200, 5_000, 0],
      answerCall: [0, 5_000, 200, 5_000, 0],
      toolCall: [90_000, 100_000, 200, 5_000, 0],
    });
  });

  it('an operator names what was shown of a call with approvers, and a refusal says what waits', async () => {
    const run = await ask('wire');
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const { waitingFor } = await handle.query<AgentState>('agentState');
    const { approvalId, inputHash } = waitingFor[0] ?? {};
    expect([approvalId, inputHash]).toEqual([`${run.runId}::c1`, hashInput({ amount: 5 })]);
    const names = { toolCallId: 'c1', approvalId, inputHash };
    for (const [name, given] of [
      ['approve', { toolCallId: 'c1' }],
      ['deny', { ...names, inputHash: 'another' }],
      ['submitToolResult', { toolCallId: 'c1', error: 'no' }],
      ['extendDeadline', { toolCallId: 'c1', byMs: 1_000 }],
    ] as const) {
      const refused = await runs.client.workflow
        .getHandle(workflowIdOf(run.runId))
        .executeUpdate<unknown, [unknown]>(name, { args: [given] })
        .catch((error: unknown) => (error as { cause?: unknown }).cause);
      expect(refused).toMatchObject({ type: 'not_pending', details: [names] });
    }
    const changed = { ...names, input: { amount: 3 }, by: 'olga' };
    expect(await update(run, 'approve', changed)).toBe('edited');
    expect(await update(run, 'approve', names)).toEqual({ refused: 'not_pending' });
    const agreed = { ...names, inputHash: hashInput({ amount: 3 }), by: 'otto' };
    expect(await update(run, 'approve', agreed)).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await resultOf(run)).toMatchObject({ output: { amount: 3 } });
  });

  it('an operator denies, and gives a page’s answer in its place', async () => {
    const [denied, answered] = [await ask('pay'), await ask('locate')];
    expect(await update(denied, 'deny', { toolCallId: 'c1', reason: 'no' })).toBe('stored');
    expect(await update(answered, 'submitToolResult', { toolCallId: 'c1', result: 'Rome' })).toBe(
      'stored',
    );
    expect(await runs.result(denied)).toMatchObject({ status: 'completed' });
    expect(await runs.result(answered)).toMatchObject({ status: 'completed' });
    expect(await resultOf(denied)).toMatchObject({
      denied: true,
      decision: { reason: 'no', via: 'temporal' },
    });
    expect(await resultOf(answered)).toMatchObject({ output: 'Rome', via: 'temporal' });
  });

  it('an operator extends a deadline', async () => {
    const run = await ask('pay');
    const before = (await stores.store.calls.read(run.sessionId, 'c1'))?.deadline ?? 0;
    const wish = { toolCallId: 'c1', byMs: 3_600_000 };
    expect(await update(run, 'extendDeadline', wish)).toEqual({ deadline: before + wish.byMs });
    await runs.executor.stop(run.sessionId, { mode: 'abort' });
  });

  it('a signal stops a run, too', async () => {
    const run = await ask('pay');
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).signal('stop');
    expect(await runs.result(run)).toMatchObject({ status: 'interrupted' });
    expect((await stores.store.sessions.read(run.sessionId))?.interrupted).toMatchObject({
      mode: 'interrupt',
      reason: 'signalled in Temporal',
    });
  });

  it('an operator stops a run, which records who and why', async () => {
    const run = await ask('pay');
    expect(await update(run, 'stop', { mode: 'abort', reason: 'enough', by: 'olga' })).toBe(
      'stopping',
    );
    expect(await runs.result(run)).toMatchObject({ status: 'aborted' });
    expect((await stores.store.sessions.read(run.sessionId))?.interrupted).toMatchObject({
      mode: 'abort',
      reason: 'enough',
      by: 'olga',
    });
  });

  it.each([
    ['approve', {}],
    ['approve', null],
    ['deny', { toolCallId: 7 }],
    ['submitToolResult', { toolCallId: 'c1', error: 7 }],
    ['extendDeadline', { toolCallId: 'c1', byMs: -1 }],
    ['stop', { mode: 'nap' }],
    ['approve', { toolCallId: 'c1', approved: false }],
    ['approve', { toolCallId: 'c1', sessionId: 'another' }],
    ['approve', { toolCallId: 'c1', kind: 'client-tool-result', result: 1 }],
    ['approve', { toolCallId: 'c1', by: 'x'.repeat(257) }],
    ['deny', { toolCallId: 'c1', approved: true }],
    ['deny', { toolCallId: 'c1', input: { amount: 1 } }],
    ['deny', JSON.parse('{"toolCallId": "c1", "__proto__": {"approved": true}}')],
    ['submitToolResult', { toolCallId: 'c1', result: 1, error: 'both' }],
    ['submitToolResult', { toolCallId: 'c1', result: 1, approved: true }],
    ['extendDeadline', { toolCallId: 'c1', byMs: 1, runId: 'another' }],
    ['stop', { runId: 'another' }],
    ['stop', { reason: 7 }],
  ])("an operator's %s with %j is refused, which leaves no trace", async (name, given) => {
    const run = await ask('pay');
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    expect(await update(run, name, given)).toEqual({ refused: 'validation_error' });
    const { events = [] } = await handle.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(
      false,
    );
    await runs.executor.stop(run.sessionId, { mode: 'abort' });
  });

  it('a look sent by hand answers no call: only the record decides, whatever the numbers', async () => {
    const run = await ask('pay');
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const before = executed.length;
    const hint = (version: number, next: object) => ({ at: { version, sequence: 1e15, next } });
    const wild = [
      { toolCallId: 'c1', approved: true },
      hint(1e15, { do: 'open', step: 1e15, machine: ['c1'] }),
      hint(-1, { do: 'open', step: 1, machine: ['c1'] }),
      hint(1e13, { do: 'done', step: 1, status: 'completed' }),
      { ...hint(1e12, { do: 'end', step: 1 }), ended: true },
      hint(1e11, { do: 'model', step: 2, mustFinish: true }),
      // Temporal takes it, but not an activity's input with it.
      { traceparent: 'x'.repeat(2_097_100) },
    ];
    const history = () => historyOf(run);
    const unanswered = hint(1e14, { do: 'open', step: 1, machine: ['c1'], people: [] });
    await handle.executeUpdate('look', { args: [unanswered] });
    await until('the record has refused the call', async () => {
      const isEnd = (event: HistoryEvent) => event.activityTaskCompletedEventAttributes;
      return (await history()).filter(isEnd).length >= 2;
    });
    for (const signal of wild) await handle.signal('look', signal);
    await until('the run has looked at the record after the last of them', async () => {
      const events = await history();
      const last = events.findLastIndex((event) => event.workflowExecutionSignaledEventAttributes);
      return events.slice(last).some((event) => event.markerRecordedEventAttributes);
    });
    expect(executed).toHaveLength(before);
    expect(summariesOf(await history())).toContain('look at step 1');
    expect((await stores.store.sessions.read(run.sessionId))?.status).toBe('waiting_approval');
    expect(await runs.decide(run, 'c1', true)).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(executed).toHaveLength(before + 1);
    const row = await resultOf(run);
    expect(row).toMatchObject({ decision: { approved: true, by: 'ann' } });
    expect((row as { decision: object }).decision).not.toHaveProperty('via');
  });

  it("an operator's answer that the store refuses gets its code, and the run keeps waiting", async () => {
    const run = await ask('locate');
    expect(await update(run, 'approve', { toolCallId: 'c1' })).toEqual({
      refused: 'kind_mismatch',
    });
    expect(await update(run, 'approve', { toolCallId: 'other' })).toEqual({
      refused: 'not_pending',
    });
    expect((await stores.store.sessions.read(run.sessionId))?.status).toBe('waiting_tool');
    await runs.executor.stop(run.sessionId, { mode: 'abort' });
  });
});
