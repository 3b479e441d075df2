import { ok } from 'node:assert/strict';
import type { KnownPerson } from '../../protocol/actor.js';
import { equal, eventually, includes } from '../../store/conformance/assertions.js';
import { approval, client, server, userMessage } from '../../store/conformance/fixtures.js';
import { drive } from '../../store/conformance/session-driver.js';
import { playTurn } from '../../store/conformance/session/played-turns.js';
import type { NewCall } from '../../store/contract/call-record.js';
import type { UserMessage } from '../../store/contract/runs.js';
import { it } from './rules.js';

const person = (userId: string, extra: Partial<KnownPerson> = {}): KnownPerson => ({
  userId,
  tenantId: 'acme',
  ...extra,
});
const ANN = person('ann', { roles: ['approver'], personId: 'p-ann' });
const OLGA = person('olga', { roles: ['operator'] });

describe('begin', () => {
  it('another owner, another tenant and another agent are refused', async ({ session }) => {
    await session.begin({ tenant: 'acme' });
    equal(await session.begin({ tenant: 'acme', owner: 'eve' }), { kind: 'foreign' });
    equal(await session.begin({ tenant: 'other' }), { kind: 'foreign' });
    equal(await session.begin(), { kind: 'foreign' });
    // A stranger does not learn the agent.
    equal(await session.begin({ tenant: 'other', agent: 'x' }), { kind: 'foreign' });
    equal(await session.begin({ tenant: 'acme', agent: 'x' }), {
      kind: 'agent_mismatch',
      agent: 'tester',
    });
  });

  it('a run that begins later waits, until it is claimed or stopped', async ({ session }) => {
    const startAt = Date.now() + 3_600_000;
    const begun = await session.begin({ startAt });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    includes(await session.record(), { status: 'starting', waitsUntil: startAt });
    equal(await session.begin({ startAt, messages: [userMessage('u2')] }), { kind: 'busy' });
    includes(await session.stop(), { kind: 'ended' });
    includes(await session.record(), { status: 'interrupted' });
    equal((await session.record())?.waitsUntil, undefined);
    const run = await session.newRun({ startAt, messages: [userMessage('u3')] });
    await session.claim(session.writer(run.runId, 1, 1));
    equal((await session.record())?.waitsUntil, undefined);
  });

  it('a run that begins later has started then: its wait is no time of its work', async (setup) => {
    const { session } = setup;
    const startAt = Date.now() + 100;
    const run = await session.newRun({ startAt });
    await eventually('its time is over', () => Date.now() > startAt + 50);
    const before = Date.now();
    await session.claim(session.writer(run.runId, 1, 1));
    const { runStartedAt = 0 } = (await session.record()) ?? {};
    // The start does not count time for which its agent was paused or no worker was there.
    ok(runStartedAt >= before);
    await session.end(run.runId, 'completed');
    equal((await session.runs()).at(-1)?.startedAt, runStartedAt);
  });

  it('a run that is stopped before it begins has not worked', async ({ session }) => {
    const begun = await session.newRun({ startAt: Date.now() + 3_600_000 });
    await eventually('time passes', () => Date.now() > begun.startedAt + 5);
    await session.stop();
    const run = (await session.runs()).at(-1);
    equal(run?.startedAt, run?.endedAt);
    equal((await session.record())?.runStartedAt, run?.endedAt);
  });

  it('a run that begins later abandons nothing that waits for people', async ({ session }) => {
    const { runId } = await session.asked(approval('c1'));
    const later = { startAt: Date.now() + 3_600_000, messages: [userMessage('u2')] };
    equal(await session.begin(later), { kind: 'busy' });
    equal(await session.begin({ ...later, policy: 'queue' }), { kind: 'busy' });
    includes(await session.record(), { runId, status: 'waiting_approval' });
    // A start time in the past means now.
    includes(await session.begin({ ...later, startAt: 1 }), { kind: 'begun' });
    equal((await session.record())?.waitsUntil, undefined);
  });

  it('who asks for a run in place of the owner is its requester', async ({ session }) => {
    const run = await session.newRun({ by: 'bob' });
    equal((await session.record())?.runBy, 'bob');
    await session.end(run.runId, 'completed');
    await session.begin({ by: 'ann', messages: [userMessage('u2')] });
    equal((await session.record())?.runBy, undefined);
  });

  it('a message leads to the newest run of its turn, and to none while it waits', async (setup) => {
    const { store, session } = setup;
    const runOf = (id: string) => store.sessions.runOf(session.id, id);
    const first = await session.newRun('u1');
    await session.enqueue('u2');
    equal(
      [await runOf('u1'), await runOf('u2'), await runOf('u3')],
      [first.runId, undefined, undefined],
    );
    await session.end(first.runId, 'failed');
    const second = await session.beginNext();
    ok(second.kind === 'begun');
    equal([await runOf('u1'), await runOf('u2')], [first.runId, second.run.runId]);
    await session.end(second.run.runId, 'interrupted');
    const resumed = await session.resume();
    ok(resumed.kind === 'resumed');
    equal([await runOf('u1'), await runOf('u2')], [first.runId, resumed.run.runId]);
    await session.end(resumed.run.runId, 'completed');
    const again = await session.retry();
    ok(again.kind === 'rewound');
    equal(await runOf('u2'), again.run.runId);
  });

  it('a message that keeps questions is refused while people are asked', async ({ session }) => {
    const { runId } = await session.asked(approval('c1'));
    const messages = [userMessage('u2')];
    equal(await session.begin({ messages, keepsQuestions: true }), { kind: 'busy' });
    equal((await session.record())?.runId, runId);
    includes(await session.begin({ messages }), {
      kind: 'begun',
      run: { supersededRunId: runId },
    });
  });

  it('a hidden message before a visible accepted one counts as accepted', async ({ session }) => {
    const hidden = (id: string): UserMessage => ({ ...userMessage(id), hidden: true });
    const ids = async (): Promise<unknown[]> =>
      (await session.rows()).flatMap((row) => (row.role === 'user' ? [row.id] : []));
    includes(await session.begin({ messages: [hidden('h1'), userMessage('u1')] }), {
      kind: 'begun',
    });
    const again = [hidden('h2'), userMessage('u1')];
    equal(await session.begin({ messages: again }), { kind: 'accepted' });
    await session.stop();
    equal(await session.begin({ messages: again }), { kind: 'accepted' });
    equal(await ids(), ['h1', 'u1']);
    // Messages after the accepted one are new, with or without a visible one.
    const more = [...again, hidden('h3'), userMessage('u2'), hidden('h4')];
    includes(await session.begin({ messages: more }), { kind: 'begun' });
    equal(await ids(), ['h1', 'u1', 'h3', 'u2', 'h4']);
  });

  it('a state is replaced only if the run begins', async ({ session }) => {
    const { runId } = await session.newRun('u1');
    await session.begin({ messages: [userMessage('u2')], state: { n: 'busy' } });
    await session.begin({ messages: [userMessage('u1')], state: { n: 'accepted' } });
    includes(await session.load(), { customState: {}, version: 0 });
    await session.end(runId, 'completed');
    await session.begin({ messages: [userMessage('u3')], state: { n: 1, list: [] } });
    includes(await session.load(), {
      customState: { n: 1, list: [] },
      version: 1,
    });
  });

  it('an accepted id with other content is a conflict, and nothing is stored', async (setup) => {
    const { session } = setup;
    const { runId } = await session.newRun('u1');
    await session.end(runId, 'completed');
    const other = { ...userMessage('u1'), hash: 'changed' };
    equal(await session.begin({ messages: [userMessage('u2'), other] }), {
      kind: 'conflict',
      messageId: 'u1',
    });
    equal(await session.accepted(['u2']), []);
  });

  it('reply ids count the visible messages before them, not steps', async ({ session }) => {
    const ids: string[] = [];
    for (const turn of [1, 2, 3]) {
      const run = await session.newRun();
      ids.push(run.messageId);
      equal(run.turn, turn);
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
      await session.ask(run.runId, 1, [server(`c${run.runId}`, { row })]);
      await session.ask(run.runId, 2, []);
    }
    equal(ids, ['msg-1', 'msg-3', 'msg-5']);
  });

  it('a stopped turn without text counts as a visible message, a hidden message does not', async (setup) => {
    const { session } = setup;
    await session.newRun();
    await session.stop();
    const hidden = { ...userMessage('h'), hidden: true };
    includes(await session.begin({ messages: [hidden, userMessage('u2')] }), {
      run: { messageId: 'msg-3' },
    });
    includes(await session.rows(1), [
      { role: 'assistant', messageId: 'msg-1', display: true, parts: [] },
      { id: 'h' },
      { id: 'u2' },
    ]);
  });

  it('a run may be marked as the continuation of an ended one', async ({ session }) => {
    await session.newRun('u0');
    await session.stop();
    const sequence = (await session.record())?.sequence ?? 0;
    const resumed = { by: 'ann' };
    const result = await session.begin({ messages: [userMessage('u1')], nonce: 'n', resumed });
    includes(result, { run: { startSequence: sequence, turn: 2 } });
    const runId = `${session.id}:2-n`;
    includes(await session.messages('run_resumed'), [{ runId, step: 0, mode: 'with_message' }]);
    includes(await session.record(), {
      runMode: 'with_message',
      runBy: 'ann',
      runStartSequence: sequence,
      turnStartSequence: sequence,
      sequence: sequence + 1,
      pauseSequence: sequence,
    });
  });

  it('fields of the previous run are cleared', async ({ session }) => {
    const { runId } = await session.newRun();
    await session.end(runId, 'failed', {
      error: { code: 'x', message: 'y', retryable: false },
    });
    ok((await session.record())?.error);
    await session.newRun();
    const record = await session.record();
    equal([record?.error, record?.interrupted, record?.stop], [undefined, undefined, undefined]);
    includes(record, { committedStep: 0, claimedStep: 0, status: 'starting', stream: 'active' });
  });

  it('the turn of an active snapshot is remembered until the next turn begins', async (setup) => {
    const { store, session } = setup;
    await session.newRun();
    await store.sessions.noteSnapshot(session.id, 1, true);
    equal((await session.record())?.activeSnapshotTurn, 1);
    await session.stop();
    await session.newRun();
    equal((await session.record())?.activeSnapshotTurn, undefined);
  });

  it('a later snapshot of the idle turn clears it, one of another turn does not', async (setup) => {
    const { store, session } = setup;
    const seen = async (): Promise<number | undefined> =>
      (await session.record())?.activeSnapshotTurn;
    await session.newRun();
    await store.sessions.noteSnapshot(session.id, 1, true);
    await store.sessions.noteSnapshot(session.id, 2, false);
    equal(await seen(), 1);
    await store.sessions.noteSnapshot(session.id, 1, false);
    equal(await seen(), undefined);
    await store.sessions.noteSnapshot(session.id, 1, true);
    equal(await seen(), 1);
  });
});

it('a message while a person is asked abandons open and approved calls: each gets one row, before the new message', async (setup) => {
  const { session } = setup;
  const [a, b, c] = ['a', 'b', 'c'].map((id) => approval(id)) as [NewCall, NewCall, NewCall];
  const { runId } = await session.asked(a, b, c, client('d'), client('e'));
  await session.decide(runId, 'a', false);
  await session.decide(runId, 'c', true);
  await session.answer(runId, 'd', { output: { lat: 1 } });
  includes(await session.begin({ messages: [userMessage('u2')] }), {
    kind: 'begun',
    run: { turn: 2, messageId: 'msg-3', supersededRunId: runId },
  });
  includes(await session.rows(), [
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool', toolCallId: 'a', denied: true },
    { role: 'tool', toolCallId: 'b', errorCode: 'client_tool_abandoned' },
    { toolCallId: 'c', errorCode: 'client_tool_abandoned', decision: { approved: true } },
    { toolCallId: 'd', output: { lat: 1 } },
    { toolCallId: 'e', errorCode: 'client_tool_abandoned' },
    { role: 'user', id: 'u2' },
  ]);
  includes(await session.messages('run_interrupted'), [{ runId, reason: 'abandoned' }]);
  includes(await session.messages('stream_end'), [{ status: 'interrupted' }]);
  equal(await session.decide(runId, 'b', true), { kind: 'already_completed' });
  equal(await session.start(runId, 1, 'c'), { kind: 'settled' });
});

describe('who asks by a turn', () => {
  it('is the author of its messages, with the roles of that time, and who repeats or continues it', async (setup) => {
    const { store, session } = setup;
    const asked = async () => (await session.record())?.askers;
    const begun = await session.newRun({ by: 'ann', askers: [ANN, OLGA] });
    equal(await asked(), [ANN, person('olga')]);
    await session.end(begun.runId, 'interrupted');
    const resumed = await session.resume({ by: 'bob', asker: person('bob', { roles: [] }) });
    ok(resumed.kind === 'resumed');
    await session.end(resumed.run.runId, 'completed');
    await session.retry({ by: 'carl', asker: person('carl') });
    const all = [ANN, person('olga'), person('bob'), person('carl')];
    equal(await asked(), all);
    equal(await store.sessions.askers(session.id, ['u1', 'unknown']), [all, []]);
  });

  it('is also who continues it by a name alone', async ({ session }) => {
    const run = await session.newRun();
    await session.end(run.runId, 'interrupted');
    await session.resume({ by: 'bob' });
    equal((await session.record())?.askers, [{ userId: 'ann' }, { userId: 'bob' }]);
  });

  it('is the owner alone where a program names nobody, and again with the next message', async (setup) => {
    const { session } = setup;
    const asked = async () => (await session.record())?.askers;
    const first = await session.newRun('u1');
    equal(await asked(), [{ userId: 'ann' }]);
    await session.end(first.runId, 'completed');
    const run = await session.newRun({ by: 'bob', messages: [userMessage('u2')] });
    equal(await asked(), [{ userId: 'bob' }]);
    await session.end(run.runId, 'completed');
    await session.newRun('u3');
    equal(await asked(), [{ userId: 'ann' }]);
  });

  it('belongs to the turn: a retry of an older one asks for those who asked then', async (setup) => {
    const { session } = setup;
    const asked = async () => (await session.record())?.askers;
    const run = await session.newRun({ by: 'olga', askers: [OLGA] });
    await session.end(run.runId, 'completed');
    await session.retry({ by: 'dora', asker: person('dora') });
    const { runId = '' } = (await session.record()) ?? {};
    await session.end(runId, 'completed');
    await playTurn(session, 'u2');
    equal(await asked(), [{ userId: 'ann' }]);
    await session.retry({ messageId: 'u1', by: 'ann', asker: ANN });
    equal(await asked(), [OLGA, person('dora'), person('ann', { personId: 'p-ann' })]);
  });

  it('has who puts another message in place as its author', async ({ session }) => {
    const run = await session.newRun({ by: 'olga', askers: [OLGA] });
    await session.end(run.runId, 'completed');
    const messages = [userMessage('u1', 'another')];
    await session.retry({ messageId: 'u1', messages, by: 'ann', asker: ANN });
    const { askers = [] } = (await session.record()) ?? {};
    equal([askers[0], askers.map(({ userId }) => userId)], [ANN, ['ann', 'olga']]);
  });

  it('is kept for messages that wait, and that steer', async ({ store, session }) => {
    const asked = async () => (await session.record())?.askers;
    const { runId } = await session.newRun('u1');
    const waiting = { messages: [userMessage('u2')], by: 'olga', askers: [OLGA] };
    await session.begin({ ...waiting, policy: 'queue' });
    await store.queue.edit({
      sessionId: session.id,
      message: userMessage('u2', 'better'),
      asker: ANN,
      expectedHash: 'hello from u2',
      now: Date.now(),
    });
    includes(await session.queue(), [{ askers: [ANN, { userId: 'olga' }] }]);
    await session.end(runId, 'completed');
    const next = await session.beginNext();
    ok(next.kind === 'begun');
    includes(await session.record(), { runBy: 'olga' });
    includes(await asked(), [ANN, { userId: 'olga' }]);
    await session.ask(next.run.runId, 1, [server('s')]);
    const steers = { messages: [userMessage('u3')], by: 'bob', askers: [person('bob')] };
    await session.begin({ ...steers, policy: 'steer' });
    await session.start(next.run.runId, 1, 's');
    await session.finishCall(next.run.runId, 1, 's', 'done');
    await session.claim(session.writer(next.run.runId, 2, 2));
    includes(await asked(), [{ userId: 'bob' }, { userId: 'ann' }, { userId: 'olga' }]);
  });

  it('is kept for messages whose turn begins with the next message', async ({ session }) => {
    const { runId } = await session.newRun('u1');
    const waiting = { messages: [userMessage('u2')], by: 'olga', askers: [OLGA] };
    await session.begin({ ...waiting, policy: 'queue' });
    await session.end(runId, 'completed');
    const next = { messages: [userMessage('u3')], by: 'bob', askers: [person('bob')] };
    includes(await session.begin({ ...next, policy: 'queue' }), { kind: 'queued' });
    includes(await session.record(), { runBy: 'olga', askers: [OLGA] });
    includes(await session.queue(), [{ askers: [person('bob')] }]);
  });

  it('is kept by a copy, for each of its turns', async ({ store, streamManager, session }) => {
    await session.begin({ by: 'olga', askers: [OLGA] });
    const copy = drive({ store, streamManager });
    const first = userMessage('u1');
    await store.sessions.branch({
      sessionId: copy.id,
      agent: 'agent',
      owner: 'ann',
      nonce: 'n',
      now: 1,
      by: 'bob',
      rows: [first.row],
      messages: [first],
      visibleMessages: 1,
      turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
      // A copier collects the askers of each message of the turn, with repetitions.
      askers: [[OLGA, person('bob'), person('bob')]],
    });
    equal((await copy.record())?.askers, [OLGA, person('bob')]);
    equal(await store.sessions.askers(copy.id, ['u1']), [[OLGA, person('bob')]]);
    await copy.retry({ messageId: 'u1', by: 'carl', asker: person('carl') });
    const { askers = [] } = (await copy.record()) ?? {};
    equal(askers, [OLGA, person('bob'), person('carl')]);
  });

  it('is told with each permission of a call, also of one that is approved', async (setup) => {
    const { session } = setup;
    const { runId } = await session.newRun({ by: 'ann', askers: [ANN, OLGA] });
    await session.ask(runId, 1, [server('s')]);
    includes(await session.start(runId, 1, 's'), { kind: 'execute', requester: ANN });
    await session.finishCall(runId, 1, 's', 'done');
    await session.ask(runId, 2, [approval('a')]);
    await session.decide(runId, 'a', true, { approver: OLGA });
    const permission = await session.start(runId, 2, 'a');
    includes(permission, { kind: 'execute', requester: ANN, approver: OLGA });
    // A row made without the tool contains no trace of the decision.
    await session.stop({ mode: 'abort' });
    await session.end(runId, 'aborted');
    const stored = JSON.stringify(await session.rows());
    const traces = ['p-ann', 'personId', 'roles', 'approver', 'operator'];
    equal(
      traces.filter((trace) => stored.includes(trace)),
      [],
    );
  });
});
