import type { UncheckedAnswer } from '../../protocol/answers.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { useRuns, createRunHarness } from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { createAsker } from './asker.js';
import { until } from '../support/until.js';

const agent = createAsker();
const { runs, stores } = useRuns([agent]);

const tooDeep: unknown = JSON.parse('{"a":'.repeat(501) + '1' + '}'.repeat(501));

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => (result as { kind: string }).kind,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
const answer = (sessionId: string, given: object): Promise<unknown> =>
  codeOf(runs.executor.submitToolResult({ sessionId, ...given } as UncheckedAnswer));

it.concurrent(
  'results, errors and decisions are accepted by the rules of their kinds, and the last one continues the run',
  async () => {
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

    const approve = { toolCallId: a, kind: 'approval-response', approved: true };
    const refusals: [code: string, given: object][] = [
      ['invalid_result', { toolCallId: c, result: { town: 'Rome' } }],
      ['kind_mismatch', { toolCallId: a, result: { amount: 5 } }],
      ['kind_mismatch', { ...approve, toolCallId: c }],
      ['not_pending', { toolCallId: 'nothing', result: 1 }],
      ['not_pending', { sessionId: 'unknown', toolCallId: c, result: 1 }],
      ['answer_too_large', { toolCallId: c, error: 'x'.repeat(LIMITS.errorTextBytes + 1) }],
      ['answer_too_large', { toolCallId: c, result: 'x'.repeat(LIMITS.answerBytes) }],
      ['validation_error', { toolCallId: c }],
      ['validation_error', { toolCallId: c, result: 1, error: 'x' }],
      ['validation_error', { toolCallId: c, result: tooDeep }],
      ['validation_error', { toolCallId: c, result: 1n }],
      ['not_pending', { ...approve, approvalId: formatApprovalId(run.runId, c) }],
      ['not_pending', { ...approve, approvalId: `${sessionId}:9-x::${a}` }],
      ['invalid_input', { ...approve, input: { amount: 'much' } }],
      ['validation_error', { ...approve, input: tooDeep }],
    ];
    for (const [code, given] of refusals) expect(await answer(sessionId, given)).toBe(code);
    expect(
      Object.values(await stores.store.calls.pending(sessionId)).map(({ response }) => response),
    ).toEqual([undefined, undefined, undefined]);

    const results = await Promise.all(
      ['Rome', 'Oslo'].map((city) =>
        answer(sessionId, { toolCallId: c, result: { city, more: 1 } }),
      ),
    );
    expect(results.sort()).toEqual(['already_completed', 'stored']);
    expect(await answer(sessionId, { toolCallId: d, error: 'no signal' })).toBe('stored');
    expect(
      await answer(sessionId, {
        ...approve,
        approvalId,
        input: { amount: 3 },
        by: 'bob',
        reason: 'less',
      }),
    ).toBe('stored');
    expect(await answer(sessionId, { ...approve, approved: false })).toBe('already_completed');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.sessions.rows(sessionId, 2, 5);
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
    expect(await answer(sessionId, { toolCallId: c, result: { city: 'X' } })).toBe(
      'already_completed',
    );
  },
);

it.concurrent('answers after the deadline reach the model once, in the next turn', async () => {
  const sessionId = runs.newSessionId();
  const id = `${sessionId}-h`;
  const run = await runs.begin(sessionId, agent.name, JSON.stringify([['hurry', id]]));
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  expect(await stores.store.sessions.rows(sessionId, 2, 3)).toMatchObject([
    { error: 'client_tool_deadline_exceeded', errorCode: 'client_tool_timeout' },
  ]);
  // The model gets its start, cut between two characters.
  const result = `here${'🙂'.repeat(10_000)}`;
  expect(await answer(sessionId, { toolCallId: id, result })).toBe('late');
  expect(await answer(sessionId, { toolCallId: id, result: 'there' })).toBe('late');
  const next = await runs.begin(sessionId, agent.name, 'and?');
  expect(await runs.result(next)).toMatchObject({ status: 'completed' });
  const rows = await stores.store.sessions.rows(sessionId, 4);
  expect(rows.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
  expect(JSON.stringify(rows[0])).toContain('here');
  expect(JSON.stringify(rows[0])).not.toMatch(/\ufffd|\\ud83d/);
  expect(JSON.stringify(rows)).not.toContain('there');
});

it.concurrent(
  'the next access settles a deadline that passed while no worker ran, and a worker continues',
  async () => {
    const away = await createRunHarness(stores, [agent]);
    const session = drive(stores);
    const { runId, ...run } = await away.begin(session.id, agent.name, 'where?');
    await session.ask(runId, 1, [
      { toolCallId: 'c', toolName: 'hurry', kind: 'client', input: {}, deadlineMs: 1 },
    ]);
    await until('the deadline passes', () => away.executor.expireCalls(session.id));
    expect(await away.executor.expireCalls(session.id)).toBe(false);
    expect(await stores.store.sessions.read(session.id)).toMatchObject({
      status: 'running',
      stream: 'active',
    });
    await away.startWorker();
    expect(await away.result({ ...run, runId })).toMatchObject({ status: 'completed' });
    expect(await stores.store.sessions.rows(session.id, 2, 3)).toMatchObject([
      { errorCode: 'client_tool_timeout' },
    ]);
  },
);
