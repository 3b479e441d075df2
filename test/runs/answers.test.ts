import type { UncheckedAnswer } from '../../protocol/answers.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { useRuns } from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { createAsker } from './asker.js';

const { agent, executed } = createAsker();
const { runs, stores } = useRuns([agent]);

const tooDeep: unknown = JSON.parse('{"a":'.repeat(501) + '1' + '}'.repeat(501));

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => (result as { kind: string }).kind,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
const answer = (given: UncheckedAnswer): Promise<unknown> =>
  codeOf(runs.executor.submitToolResult(given));

describe('answers to a real run', () => {
  it('results, errors and decisions are accepted by the rules of their kinds, and the last one continues the run', async () => {
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
    expect(await answer({ sessionId: 'unknown', toolCallId: c, result: 1 })).toBe('not_pending');
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
    expect(await answer({ sessionId, toolCallId: c, result: tooDeep })).toBe('validation_error');
    expect(await answer({ sessionId, toolCallId: c, result: 1n })).toBe('validation_error');
    const approve = {
      sessionId,
      toolCallId: a,
      kind: 'approval-response' as const,
      approved: true,
    };
    expect(await answer({ ...approve, approvalId: formatApprovalId(run.runId, c) })).toBe(
      'not_pending',
    );
    expect(await answer({ ...approve, approvalId: `${sessionId}:9-x::${a}` })).toBe('not_pending');
    expect(await answer({ ...approve, input: { amount: 'much' } })).toBe('invalid_input');
    expect(await answer({ ...approve, input: tooDeep })).toBe('validation_error');
    expect(
      Object.values(await stores.store.calls.pending(sessionId)).map(({ response }) => response),
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
    expect(await answer({ sessionId, toolCallId: c, result: { city: 'X' } })).toBe(
      'already_completed',
    );
  });

  it('an error cancels an approval', async () => {
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
    expect(await stores.store.sessions.rows(sessionId, 2, 3)).toMatchObject([
      { error: 'the dialog was closed' },
    ]);
  });
});
