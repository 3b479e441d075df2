import { equal, eventually, includes, refuses } from '../../store/conformance/assertions.js';
import { approval, client, server } from '../../store/conformance/fixtures.js';
import { it } from './rules.js';

describe('settle call, an approval', () => {
  it('only the last answer of a batch resumes the run, with all approved calls', async (setup) => {
    const { session } = setup;
    const { runId } = await session.newRun();
    await session.ask(
      runId,
      1,
      ['a', 'b', 'c'].map((id) => approval(id)),
    );
    equal('resume' in (await session.decide(runId, 'a', true)), false);
    equal('resume' in (await session.decide(runId, 'b', false)), false);
    includes(await session.record(), { stream: 'paused' });
    const resume = { step: 1, approved: ['a', 'c'] };
    includes(await session.decide(runId, 'c', true), { kind: 'stored', resume });
    includes(await session.record(), {
      status: 'running',
      stream: 'active',
      resume,
    });
  });

  it('a call that demands an approver takes an answer only with the mark of a permission', async (setup) => {
    const { session } = setup;
    const guarded = { approvers: { roles: ['approver' as const], separate: true } };
    const { runId } = await session.asked(approval('a', guarded), approval('b'));
    const unchecked = { permitted: false };
    const refused = { kind: 'not_allowed' };
    equal(await session.decide(runId, 'a', true, unchecked), refused);
    equal(await session.decide(runId, 'a', false, unchecked), refused);
    equal(await session.answer(runId, 'a', { error: 'cancelled' }, unchecked), refused);
    const [call] = (await session.view())?.openCalls ?? [];
    includes(call, { state: 'waiting' });
    equal(call?.spec.approvers, guarded.approvers);
    includes(await session.decide(runId, 'b', true), { kind: 'stored' });
    includes(await session.decide(runId, 'a', true, { permitted: true }), { kind: 'stored' });
    equal(await session.decide(runId, 'a', true), { kind: 'already_completed' });
  });

  it('no answer is taken that was not checked while the call waited', async ({ session }) => {
    const { runId } = await session.asked(approval('a'), client('c'));
    const unchecked = { permitted: false };
    const refused = { kind: 'not_pending' };
    equal(await session.decide(runId, 'a', true, unchecked), refused);
    equal(await session.decide(runId, 'a', false, unchecked), refused);
    equal(await session.answer(runId, 'a', { error: 'cancelled' }, unchecked), refused);
    equal(await session.answer(runId, 'c', { output: 1 }, unchecked), refused);
    includes(await session.record(), { stream: 'paused' });
    includes(await session.decide(runId, 'a', true), { kind: 'stored' });
    includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
  });

  it('a changed input waits in place of the first, for whoever was shown it', async (setup) => {
    const { session } = setup;
    const [input, from] = [{ amount: 9, text: '\u0000é' }, { amount: 5 }];
    const { runId } = await session.asked(approval('a', { input: from }));
    const edit = { n: 1, input, by: 'bob', at: 1 };
    includes(await session.decide(runId, 'a', true, { edit }), { kind: 'edited' });
    for (const shown of [{}, { shownEdit: 2 }, { edit }]) {
      equal(await session.decide(runId, 'a', true, shown), { kind: 'not_pending' });
    }
    equal(await session.answer(runId, 'a', { error: 'no' }), { kind: 'not_pending' });
    const read = await session.call('a');
    const view = await session.view();
    for (const call of [read, view?.openCalls[0]]) {
      includes(call, { state: 'waiting' });
      equal(call?.spec.input, input);
      equal(call?.spec.edited, { n: 1, by: 'bob', at: 1, from });
    }
    includes(await session.record(), { stream: 'paused' });
    includes(await session.decide(runId, 'a', true, { shownEdit: 1 }), { kind: 'stored' });
  });

  it('the rule of a tool for a deadline needs no permission', async ({ session }) => {
    const approvers = { separate: true };
    const { runId } = await session.asked(approval('a', { deadlineMs: 1, approvers }));
    await eventually('the deadline passes', async () => {
      const { kind } = await session.expireAs(runId, 'a', false);
      return kind === 'stored';
    });
  });

  it('late duplicates get already_completed, also in later steps and turns', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(approval('a'));
    await session.decide(runId, 'a', true);
    const duplicates = async (): Promise<unknown[]> => [
      await session.decide(runId, 'a', false),
      await session.finishCall(runId, 1, 'a', 'again', 1),
    ];
    const already = { kind: 'already_completed' };
    equal(await session.decide(runId, 'a', true), already);
    await session.start(runId, 1, 'a', 2);
    await session.finishCall(runId, 1, 'a', 'done', 2);
    equal(await duplicates(), [already, already]);
    await session.ask(runId, 2, []);
    equal(await duplicates(), [already, already]);
    await session.newRun();
    equal(await duplicates(), [already, already]);
  });

  it('it describes what a paused run waits for', async ({ store, session }) => {
    await refuses(store.calls.suspension(session.id), 'not_found');
    const { runId } = await session.newRun();
    equal(await store.calls.suspension(session.id), null);
    await session.ask(runId, 1, [client('c'), client('d')]);
    const { sequence } = (await session.record()) ?? {};
    const waits = { runId, stepId: 's1', sequence };
    equal(await store.calls.suspension(session.id), {
      ...waits,
      kind: 'suspended_client_tool',
      toolCallIds: ['c', 'd'],
    });
    await session.answer(runId, 'c', { output: 1 });
    equal(await store.calls.suspension(session.id), {
      ...waits,
      kind: 'suspended_step_partial',
      toolCallIds: ['d'],
    });
    await session.answer(runId, 'd', { output: 1 });
    equal(await store.calls.suspension(session.id), null);
  });
});

describe('settle call, a client', () => {
  it('a result and an error are stored, and the last answer resumes the run', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(client('c'), client('d'));
    equal('resume' in (await session.answer(runId, 'c', { output: 7 })), false);
    includes(await session.answer(runId, 'd', { error: 'no camera' }), {
      kind: 'stored',
      resume: { step: 1, approved: [] },
    });
    includes(await session.claim(session.writer(runId, 2, 1)), { rowCount: 4 });
    includes(await session.rows(2), [
      { toolCallId: 'c', output: 7 },
      { toolCallId: 'd', error: 'no camera' },
    ]);
  });

  it('a client cannot give the result of an approval, but can cancel it with an error', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(approval('a'), client('c'));
    equal(await session.answer(runId, 'a', { output: 'forged' }), { kind: 'kind_mismatch' });
    equal(await session.decide(runId, 'c', true), { kind: 'kind_mismatch' });
    includes(await session.answer(runId, 'a', { error: 'gone' }), { kind: 'stored' });
    equal(await session.start(runId, 1, 'a'), { kind: 'settled' });
  });

  it('a client cannot cancel a decided approval', async ({ session }) => {
    const { runId } = await session.asked(approval('a'), approval('b'));
    await session.decide(runId, 'a', true);
    equal(await session.answer(runId, 'a', { error: 'gone' }), { kind: 'already_completed' });
    includes(await session.decide(runId, 'b', false), { resume: { approved: ['a'] } });
  });
});

describe('settle call, a tool', () => {
  it('only the attempt with permission can store a result', async ({ session }) => {
    const { runId } = await session.asked(server('s'), approval('a'));
    equal(await session.finishCall(runId, 1, 's', 'unstarted'), { kind: 'fenced' });
    equal(await session.finishCall(runId, 1, 'a', 'unapproved'), { kind: 'fenced' });
    await session.start(runId, 1, 's', 4);
    equal(await session.finishCall(runId, 1, 's', 'other', 3), { kind: 'fenced' });
    includes(await session.finishCall(runId, 1, 's', 'mine', 4), { kind: 'stored' });
  });

  it('a repeated result gets the first reply and is written once', async ({ session }) => {
    const { runId } = await session.asked(server('s'));
    await session.carryOut(runId, 1, 's', 'first');
    includes(await session.finishCall(runId, 1, 's', 'second'), { kind: 'stored' });
    const other = await session.finishCall(runId, 1, 's', 'third', 2);
    equal(other, { kind: 'already_completed' });
    includes(await session.messages('tool_end'), [{ result: 'first' }]);
    includes(await session.call('s'), {
      state: 'settled',
      row: { output: 'first' },
    });
  });

  it('a large result is complete in the log and in the transcript', async ({ session }) => {
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's');
    const output = { text: 'ü'.repeat(200_000) };
    includes(await session.finishCall(runId, 1, 's', output), { kind: 'stored' });
    const [end] = await session.messages('tool_end');
    equal(end?.result, output);
    equal(end?.resultRef, undefined);
    includes(await session.call('s'), { row: { output } });
    await session.claim(session.writer(runId, 2, 1));
    includes(await session.rows(2), [{ toolCallId: 's', output }]);
  });
});
