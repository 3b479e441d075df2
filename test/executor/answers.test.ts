import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../agents/index.js';
import { createActivities } from '../../activities/index.js';
import { AgentRegistry } from '../../agents/index.js';
import type { ToolAnswerInput } from '../../protocol/answers.js';
import { formatApprovalId, workflowIdOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

/** Asks for what the message names, in its first step; then it says what it was told last. */
const model = fakeModel((_, { prompt }) => {
  const at = prompt.findLastIndex(
    ({ role, providerOptions }) => role === 'user' && providerOptions === undefined,
  );
  const said = prompt[at]?.content;
  const text = Array.isArray(said) && said[0]?.type === 'text' ? said[0].text : '';
  if (prompt.length > at + 1 || !text.startsWith('[')) {
    return [...parts.text(JSON.stringify(prompt.at(-1))), ...parts.finish()];
  }
  const calls = JSON.parse(text) as [tool: string, id: string, input?: object][];
  return [
    ...calls.flatMap(([tool, id, input = {}]) => parts.call(id, tool, input)),
    ...parts.finish('tool-calls'),
  ];
});
const executed: unknown[] = [];
const place = z.object({ city: z.string() });
const agent = defineAgent({
  name: 'asker',
  systemPrompt: '',
  tools: [
    defineTool({
      name: 'locate',
      description: 'locate',
      inputSchema: z.object({}),
      outputSchema: place,
      execute: 'client',
    }),
    defineTool({
      name: 'hurry',
      description: 'hurry',
      inputSchema: z.object({}),
      execute: 'client',
      deadlineMs: 300,
    }),
    defineTool({
      name: 'ask',
      description: 'ask',
      inputSchema: z.object({}),
      execute: 'client',
      deadlineMs: 5_000,
    }),
    defineTool({
      name: 'charge',
      description: 'charge',
      inputSchema: z.object({ amount: z.number() }),
      requireApproval: true,
      execute: (input) => {
        executed.push(input);
        return input;
      },
    }),
  ],
  llmConfig: { model },
});

let stores: TestStores;
let runs: RunHarness;
beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent]);
  await runs.startWorker();
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => (result as { kind: string }).kind,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
const answer = (given: ToolAnswerInput): Promise<unknown> =>
  codeOf(runs.executor.submitToolResult(given));

describe('answers to a real run', () => {
  it('take results, errors and decisions by the rules of their kinds, and go on with the last', async () => {
    const sessionId = runs.newSessionId();
    const [c, d, a] = ['c', 'd', 'a'].map((name) => `${sessionId}-${name}`) as [
      string,
      string,
      string,
    ];
    const asked = [
      ['locate', c],
      ['locate', d],
      ['charge', a, { amount: 5 }],
    ];
    const run = await runs.begin(sessionId, agent.name, JSON.stringify(asked));
    await runs.untilStatus(sessionId, 'waiting_approval');
    const approvalId = formatApprovalId(run.runId, a);

    expect(await answer({ sessionId, toolCallId: c, result: { town: 'Rome' } })).toBe(
      'invalid_result',
    );
    expect(await answer({ sessionId, toolCallId: a, result: { amount: 5 } })).toBe('kind_mismatch');
    expect(
      await answer({ sessionId, toolCallId: c, kind: 'approval-response', approved: true }),
    ).toBe('kind_mismatch');
    expect(await answer({ sessionId, toolCallId: 'nothing', result: 1 })).toBe('not_pending');
    expect(await answer({ sessionId: 'nobody', toolCallId: c, result: 1 })).toBe('not_pending');
    expect(
      await answer({ sessionId, toolCallId: c, error: 'x'.repeat(LIMITS.errorTextBytes + 1) }),
    ).toBe('answer_too_large');
    expect(await answer({ sessionId, toolCallId: c, result: 'x'.repeat(LIMITS.answerBytes) })).toBe(
      'answer_too_large',
    );
    expect(await answer({ sessionId, toolCallId: c })).toBe('validation_error');
    expect(await answer({ sessionId, toolCallId: c, result: 1, error: 'x' })).toBe(
      'validation_error',
    );
    const approve = {
      sessionId,
      toolCallId: a,
      kind: 'approval-response' as const,
      approved: true,
    };
    expect(await answer({ ...approve, approvalId: formatApprovalId(run.runId, c) })).toBe(
      'not_pending',
    );
    expect(await answer({ ...approve, approvalId: `${sessionId}:9-x::${a}` })).toBe('stale_run');
    expect(await answer({ ...approve, input: { amount: 'much' } })).toBe('invalid_input');
    expect(
      Object.values(await stores.store.getPendingCalls(sessionId)).map(({ response }) => response),
    ).toEqual([undefined, undefined, undefined]);

    const results = await Promise.all(
      ['Rome', 'Oslo'].map((city) =>
        answer({ sessionId, toolCallId: c, result: { city, more: 1 } }),
      ),
    );
    expect(results.sort()).toEqual(['already_completed', 'stored']);
    expect(await answer({ sessionId, toolCallId: d, error: 'no signal' })).toBe('stored');
    expect(
      await answer({ ...approve, approvalId, input: { amount: 3 }, by: 'bob', reason: 'less' }),
    ).toBe('stored');
    expect(await answer({ ...approve, approved: false })).toBe('already_completed');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.readRows(sessionId, 2, 5);
    expect(rows).toMatchObject([
      { toolCallId: c, output: {} },
      { toolCallId: d, error: 'no signal', errorCode: 'client_tool_failed' },
      {
        toolCallId: a,
        decision: { approved: true, by: 'bob', input: { amount: 3 }, reason: 'less' },
      },
    ]);
    expect(Object.keys((rows[0] as { output: object }).output)).toEqual(['city']);
    const session = drive(stores, sessionId);
    expect(await session.messages('tool_approval_response')).toMatchObject([
      { approved: true, by: 'bob', input: { amount: 3 } },
    ]);
    expect(await answer({ sessionId, toolCallId: c, result: { city: 'X' } })).toBe(
      'already_completed',
    );
  });

  it('call an approval off with an error', async () => {
    const sessionId = runs.newSessionId();
    const id = `${sessionId}-a`;
    const run = await runs.begin(
      sessionId,
      agent.name,
      JSON.stringify([['charge', id, { amount: 77 }]]),
    );
    await runs.untilStatus(sessionId, 'waiting_approval');
    expect(await answer({ sessionId, toolCallId: id, error: 'the dialog was closed' })).toBe(
      'stored',
    );
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(executed).not.toContainEqual({ amount: 77 });
    expect(await stores.store.readRows(sessionId, 2, 3)).toMatchObject([
      { error: 'the dialog was closed' },
    ]);
  });

  it('that come too late are told to the model once, in the next turn', async () => {
    const sessionId = runs.newSessionId();
    const id = `${sessionId}-h`;
    const run = await runs.begin(sessionId, agent.name, JSON.stringify([['hurry', id]]));
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await stores.store.readRows(sessionId, 2, 3)).toMatchObject([
      { error: 'client_tool_deadline_exceeded', errorCode: 'client_tool_timeout' },
    ]);
    expect(await answer({ sessionId, toolCallId: id, result: 'here' })).toBe('late');
    expect(await answer({ sessionId, toolCallId: id, result: 'there' })).toBe('late');
    const next = await runs.begin(sessionId, agent.name, 'and?');
    expect(await runs.result(next)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.readRows(sessionId, 4);
    expect(rows.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
    expect(JSON.stringify(rows[0])).toContain('here');
    expect(JSON.stringify(rows)).not.toContain('there');
  });

  it('have more time when the deadline is put off, by the API alone', async () => {
    const sessionId = runs.newSessionId();
    const id = `${sessionId}-h`;
    const run = await runs.begin(sessionId, agent.name, JSON.stringify([['ask', id]]));
    const record = await runs.untilStatus(sessionId, 'waiting_tool');
    const extended = await runs.executor.extendDeadline({
      sessionId,
      toolCallId: id,
      byMs: 60_000,
    });
    expect(extended).toMatchObject({ kind: 'extended', deadline: (record.deadline ?? 0) + 60_000 });
    // The timer of the run fires as set, and finds nothing due.
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    await until('the timer has fired', async () => {
      const { events = [] } = await handle.fetchHistory();
      return events?.filter((event) => event.timerStartedEventAttributes).length === 2;
    });
    expect(await answer({ sessionId, toolCallId: id, result: 'in time' })).toBe('stored');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await stores.store.readRows(sessionId, 2, 3)).toMatchObject([{ output: 'in time' }]);
  });
});

describe('a deadline that passes while no worker runs', () => {
  it('is settled by the next access; a worker goes on from there', async () => {
    const away = await createRunHarness(stores, [agent]);
    const session = drive(stores);
    const { runId, ...run } = await away.begin(session.id, agent.name, 'where?');
    await session.ask(runId, 1, [
      { toolCallId: 'c', toolName: 'hurry', kind: 'client', input: {}, deadlineMs: 1 },
    ]);
    await until('the deadline passes', () => away.executor.expireCalls(session.id));
    expect(await away.executor.expireCalls(session.id)).toBe(false);
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'running',
      stream: 'active',
    });
    await away.startWorker();
    expect(await away.result({ ...run, runId })).toMatchObject({ status: 'completed' });
    expect(await stores.store.readRows(session.id, 2, 3)).toMatchObject([
      { errorCode: 'client_tool_timeout' },
    ]);
  });
});

describe('the activities of answers', () => {
  it('answer, refuse with a code, and tell of the same end twice', async () => {
    const quiet = { info: () => undefined, warn: () => undefined };
    const { answerCall, extendDeadline, expireCalls } = createActivities({
      ...stores,
      agents: new AgentRegistry([agent]),
      services: {},
      startNext: () => Promise.resolve(),
      logger: quiet,
    });
    const session = drive(stores);
    const { runId } = await session.newRun();
    const call = { toolName: 'hurry', kind: 'client' as const, input: {} };
    await session.ask(runId, 1, [
      { ...call, toolCallId: 'c', deadlineMs: 60_000 },
      { ...call, toolCallId: 'd', deadlineMs: 1, onExpiry: { result: 'nobody' } },
    ]);
    const ref = { sessionId: session.id, runId, agent: agent.name };
    expect(await answerCall({ ...ref, answer: { toolCallId: 'c', approved: true } })).toEqual({
      kind: 'refused',
      code: 'kind_mismatch',
    });
    expect(await extendDeadline({ ...ref, toolCallId: 'x', byMs: 1 })).toMatchObject({
      code: 'not_pending',
    });
    expect(await extendDeadline({ ...ref, toolCallId: 'c', byMs: 1_000 })).toMatchObject({
      kind: 'extended',
    });
    const due = await until('it is due', async () => {
      const outcome = await expireCalls({ ...ref, step: 1 });
      const { d } = await stores.store.getPendingCalls(session.id);
      return d?.response === undefined ? undefined : outcome;
    });
    expect(due.resume).toBeUndefined();
    expect(due.nextDueMs).toBeGreaterThan(30_000);
    expect(await stores.store.readCall(session.id, 'd')).toMatchObject({
      row: { output: 'nobody' },
    });
    expect(
      await answerCall({ ...ref, answer: { toolCallId: 'c', result: 7, by: 'ops' } }),
    ).toMatchObject({
      kind: 'stored',
      runId,
      resume: { step: 1, approved: [] },
    });
    // Whoever has missed the end of the batch is told of it again.
    expect(await expireCalls({ ...ref, step: 1 })).toMatchObject({ resume: { step: 1 } });
    expect(await expireCalls({ ...ref, runId: 'other', step: 1 })).toEqual({});
  });
});
