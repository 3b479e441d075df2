import { ok } from 'node:assert/strict';
import { LIMITS } from '../../protocol/limits.js';
import { equal, eventually, includes } from '../../store/conformance/assertions.js';
import { approval, client, server, userMessage } from '../../store/conformance/fixtures.js';
import type { SessionDriver } from '../../store/conformance/session-driver.js';
import { it } from './rules.js';

const FAR_AHEAD_MS = 1_000_000_000;

/** Settles a call as expired as soon as the store allows it. */
async function expireInTime(session: SessionDriver, runId: string, id: string): Promise<unknown> {
  return eventually('the deadline passes', async () => {
    // The caller's clock stands still, which must not matter.
    const result = await session.expire(runId, id, 1);
    return result.kind !== 'not_due' && result;
  });
}

describe('settle call, a deadline', () => {
  it('an unanswered call is settled, and the run resumes', async ({ session }) => {
    const { runId } = await session.asked(client('c', { deadlineMs: 1 }));
    includes(await expireInTime(session, runId, 'c'), {
      kind: 'stored',
      resume: { step: 1, approved: [] },
    });
    includes(await session.call('c'), {
      row: { errorCode: 'client_tool_timeout' },
    });
    includes(await session.record(), { stream: 'active' });
    equal(await session.expire(runId, 'c'), { kind: 'already_completed' });
  });

  it('the deadline counts from the pause, not from the commit', async ({ session }) => {
    const { runId } = await session.asked(server('s'), client('c', { deadlineMs: 1 }));
    equal((await session.call('c'))?.deadline, undefined);
    equal(await session.expire(runId, 'c'), { kind: 'not_due' });
    await session.carryOut(runId, 1, 's', 1);
    includes(await expireInTime(session, runId, 'c'), { kind: 'stored' });
  });

  it('a call without a deadline and an answered call are left alone', async ({ session }) => {
    const { runId } = await session.asked(client('c'), client('d', { deadlineMs: 1 }));
    equal(await session.expire(runId, 'c', Date.now() + FAR_AHEAD_MS), { kind: 'not_due' });
    await session.answer(runId, 'd', { output: 1 });
    equal(await session.expire(runId, 'd'), { kind: 'already_completed' });
  });

  it('a late approval is refused, but a kind mismatch or a second answer comes first', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(
      approval('a', { deadlineMs: 1 }),
      approval('b', { deadlineMs: 60_000 }),
      client('c', { deadlineMs: 1 }),
    );
    // The callers' clocks do not matter.
    await session.decide(runId, 'b', true, { now: Date.now() + FAR_AHEAD_MS });
    const late = await eventually('the deadline passes', async () => {
      const result = await session.expire(runId, 'c', 1);
      return result.kind === 'stored' && session.decide(runId, 'a', true, { now: 1 });
    });
    equal(late, { kind: 'expired' });
    equal(await session.decide(runId, 'b', true), { kind: 'already_completed' });
    equal(await session.decide(runId, 'c', true), { kind: 'already_completed' });
    includes(await expireInTime(session, runId, 'a'), { resume: { approved: ['b'] } });
  });

  it("a client's late result is accepted until the model got the timeout", async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(client('c', { deadlineMs: 1 }));
    await expireInTime(session, runId, 'c');
    includes(await session.answer(runId, 'c', { output: 'late' }), { kind: 'stored' });
    const already = { kind: 'already_completed' };
    equal(await session.answer(runId, 'c', { output: 'later' }), already);
    await session.claim(session.writer(runId, 2, 1));
    equal(await session.answer(runId, 'c', { output: 'too late' }), already);
    await session.claim(session.writer(runId, 2, 2));
    equal((await session.rows(2)).length, 1);
    includes(await session.rows(2), [{ toolCallId: 'c', output: 'late' }]);
    equal((await session.messages('run_resumed')).length, 1);
  });

  it("an expired approval is decided by its tool's own rule", async ({ session }) => {
    const { runId } = await session.asked(
      approval('y', { deadlineMs: 1, onExpiry: 'approve' }),
      approval('n', { deadlineMs: 1 }),
    );
    includes(await session.call('y'), { spec: { onExpiry: 'approve' } });
    const denied = await eventually('the deadline passes', async () => {
      const result = await session.expireAs(runId, 'n', false);
      return result.kind !== 'not_due' && result;
    });
    includes(denied, { kind: 'stored' });
    includes(await session.call('n'), {
      state: 'settled',
      row: { denied: true, decision: { automatic: true } },
    });
    includes(await session.expireAs(runId, 'y', true), { resume: { step: 1, approved: ['y'] } });
    includes(await session.start(runId, 1, 'y'), {
      kind: 'execute',
      decision: { approved: true, automatic: true },
    });
  });

  it('after an expiry no decision is accepted, whatever its outcome was', async ({ session }) => {
    const { runId } = await session.asked(
      approval('y', { deadlineMs: 1 }),
      approval('n', { deadlineMs: 1 }),
    );
    await eventually('the deadline passes', async () => {
      const result = await session.expireAs(runId, 'y', true);
      return result.kind === 'stored';
    });
    await session.expireAs(runId, 'n', false);
    const expired = { kind: 'expired' };
    equal(await session.decide(runId, 'y', false), expired);
    equal(await session.decide(runId, 'n', true), expired);
    equal(await session.answer(runId, 'n', { error: 'gone' }), expired);
    await session.carryOut(runId, 1, 'y', 1);
    await session.claim(session.writer(runId, 2, 1));
    equal(await session.decide(runId, 'y', false), expired);
    equal(await session.answer(runId, 'n', { error: 'gone' }), expired);
    equal(await session.expire(runId, 'n'), { kind: 'already_completed' });
  });

  it('pause and record show the earliest deadline', async ({ session }) => {
    const { runId } = await session.asked(
      client('c', { deadlineMs: 60_000 }),
      client('d', { deadlineMs: 50_000 }),
      client('e'),
    );
    const deadlineOf = async (id: string): Promise<number | undefined> =>
      (await session.call(id))?.deadline;
    const [c, d] = [await deadlineOf('c'), await deadlineOf('d')];
    includes(await session.record(), { deadline: d });
    includes(await session.messages('run_paused'), [{ deadline: d }]);
    await session.answer(runId, 'd', { output: 1 });
    includes(await session.record(), { deadline: c });
    await session.answer(runId, 'c', { output: 1 });
    equal((await session.record())?.deadline, undefined);
    await session.answer(runId, 'e', { output: 1 });
    await session.claim(session.writer(runId, 2, 1));
    await session.commit(session.writer(runId, 2, 1), {
      calls: [client('f', { deadlineMs: 60_000 })],
    });
    equal((await session.record())?.deadline, await deadlineOf('f'));
    await session.stop();
    equal((await session.record())?.deadline, undefined);
  });
});

describe('a late answer', () => {
  it('the model gets it once, after the results of the current step', async ({ session }) => {
    const { runId } = await session.asked(client('c', { deadlineMs: 1 }));
    await expireInTime(session, runId, 'c');
    await session.ask(runId, 2, [server('s')]);
    const late = { kind: 'late' };
    equal(await session.answer(runId, 'c', { output: 'Rome' }), late);
    equal(await session.answer(runId, 'c', { output: 'Paris' }), late);
    await session.carryOut(runId, 2, 's', 1);
    await session.claim(session.writer(runId, 3, 1));
    const rows = await session.rows(4);
    includes(rows, [
      { role: 'tool', toolCallId: 's' },
      { role: 'user', id: 'late-c', hidden: true },
    ]);
    equal(rows.length, 2);
    const text = JSON.stringify(rows[1]);
    ok(text.includes('of \\"client-tool\\"') && text.includes('Rome'), text);
    ok(!text.includes('Paris'));
    await session.claim(session.writer(runId, 3, 2));
    equal((await session.rows(4)).length, 2);
    equal(await session.answer(runId, 'c', { output: 'Oslo' }), late);
  });

  it('the model gets it before the next message if the run has ended', async ({ session }) => {
    const { runId } = await session.asked(client('c', { deadlineMs: 1 }));
    await expireInTime(session, runId, 'c');
    await session.stop();
    equal(await session.answer(runId, 'c', { output: 'Rome' }), { kind: 'late' });
    equal(await session.answer(runId, 'other', { output: 'Rome' }), { kind: 'not_pending' });
    includes(await session.begin({ messages: [userMessage('u2')] }), {
      run: { messageId: 'msg-3' },
    });
    includes(await session.rows(2), [
      { role: 'tool', errorCode: 'client_tool_timeout' },
      { role: 'user', id: 'late-c' },
      { role: 'user', id: 'u2' },
    ]);
    includes(await session.record(), { turnStartRow: 4 });
    equal(await session.answer(runId, 'c', { output: 'Rome' }), { kind: 'late' });
  });
});

describe('extend deadline', () => {
  it('the time can be extended repeatedly, up to a limit', async ({ session }) => {
    const { runId } = await session.asked(client('c', { deadlineMs: 60_000 }));
    const first = (await session.call('c'))?.deadline ?? 0;
    includes(await session.extend(runId, 'c', 1_000), {
      kind: 'extended',
      deadline: first + 1_000,
    });
    const result = await session.extend(runId, 'c', 5_000);
    includes(result, { kind: 'extended', deadline: first + 6_000 });
    ok(result.kind === 'extended' && result.dueInMs > 0 && result.dueInMs <= 66_000);
    includes(await session.call('c'), { deadline: first + 6_000 });
    includes(await session.record(), { deadline: first + 6_000 });
    equal(await session.extend(runId, 'c', LIMITS.deadlineAheadMs), { kind: 'too_far' });
    includes(await session.call('c'), { deadline: first + 6_000 });
  });

  it('a repeated request adds no time', async ({ store, session }) => {
    const { runId } = await session.asked(client('c', { deadlineMs: 60_000 }));
    const { deadline = 0 } = (await session.call('c')) ?? {};
    const setup = { sessionId: session.id, runId, toolCallId: 'c', deadline, now: 1 };
    for (const byMs of [5_000, 5_000, 1_000]) {
      const result = await store.calls.extendDeadline({ ...setup, byMs });
      includes(result, { kind: 'extended', deadline: deadline + 5_000 });
    }
  });

  it('a call that does not wait with a deadline is refused', async ({ session }) => {
    const { runId } = await session.asked(
      approval('a', { deadlineMs: 60_000 }),
      client('c'),
      client('d', { deadlineMs: 1 }),
      server('s'),
    );
    equal(await session.extend(runId, 'a', 1), { kind: 'no_deadline' });
    await session.start(runId, 1, 's');
    equal(await session.extend(runId, 's', 1), { kind: 'not_pending' });
    await session.finishCall(runId, 1, 's', 1);
    equal(await session.extend(runId, 's', 1), { kind: 'already_completed' });
    equal(await session.extend(runId, 'c', 1), { kind: 'no_deadline' });
    equal(await session.extend(runId, 'unknown', 1), { kind: 'not_pending' });
    equal(await session.extend(`${session.id}:9-x`, 'a', 1), { kind: 'stale_run' });
    const late = await eventually('the deadline passes', async () => {
      const result = await session.extend(runId, 'd', 1);
      return result.kind !== 'extended' && result;
    });
    equal(late, { kind: 'expired' });
    await expireInTime(session, runId, 'd');
    equal(await session.extend(runId, 'd', 60_000), { kind: 'expired' });
    await session.decide(runId, 'a', true);
    equal(await session.extend(runId, 'a', 1), { kind: 'already_completed' });
    await session.answer(runId, 'c', { output: 1 });
    await session.carryOut(runId, 1, 'a', 1);
    await session.claim(session.writer(runId, 2, 1));
    equal(await session.extend(runId, 'a', 1), { kind: 'already_completed' });
    equal(await session.extend(runId, 'd', 1), { kind: 'expired' });
  });
});
