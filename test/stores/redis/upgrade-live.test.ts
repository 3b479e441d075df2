import { describe, expect, it } from '@jest/globals';
import type { Row } from '../../../protocol/rows.js';
import { dueShardOf } from '../../../stores/record/due-shards.js';
import { newNonce, textIn } from '../../support/session-driver.js';
import { drive } from '../../support/session-driver.js';
import { openRecorded, type Upgraded } from './upgrade/open-recorded.js';

/** The rows that hold results, by their calls. */
function results(rows: readonly Row[] = []): Record<string, unknown> {
  return Object.fromEntries(
    rows.flatMap((row) => (row.role === 'tool' ? [[row.toolCallId, row]] : [])),
  );
}

async function rowsOf({ store, session }: Upgraded): Promise<Row[]> {
  return (await store.sessions.view(session.id))?.rows ?? [];
}

describe('a step of release 0.2.0 in the middle', () => {
  it('a step of release 0.2.0 is continued by its own attempt, which continues its batch numbers', async () => {
    const { session, runId } = await openRecorded('speaking');
    const writer = session.writer(runId, 2, 1);
    expect(await session.say(writer, 2, 'a word')).toMatchObject({ kind: 'appended' });
    expect(await session.say(writer, 3, ' and more')).toMatchObject({ kind: 'appended' });
    expect(textIn(await session.log())).toBe('half a word and more');
    expect(await session.commit(writer)).toMatchObject({ kind: 'committed' });
  });

  it('a step of release 0.2.0 is repeated by another attempt, which withdraws the chunks of the first', async () => {
    const { session, runId } = await openRecorded('speaking');
    const writer = session.writer(runId, 2, 2);
    expect(await session.claim(writer)).toMatchObject({ kind: 'claimed' });
    expect(textIn(await session.log())).toBe('');
    expect(await session.messages('stream_resync')).toHaveLength(1);
    const fenced = session.writer(runId, 2, 1);
    expect(await session.say(fenced, 3, 'late')).toMatchObject({ kind: 'fenced' });
    await session.say(writer, 1, 'again');
    await session.commit(writer);
    expect(textIn(await session.log())).toBe('again');
  });

  it('a step that processes of both releases wrote is withdrawn as a whole', async () => {
    const { session, runId } = await openRecorded('mixed-attempts');
    expect(textIn(await session.log())).toBe('lost');
    await session.claim(session.writer(runId, 1, 3));
    expect(textIn(await session.log())).toBe('');
  });

  it('a step of release 0.2.0 ends as its stop record requires', async () => {
    const { session, runId, store } = await openRecorded('stopping');
    const writer = session.writer(runId, 2, 1);
    expect(await session.commit(writer)).toMatchObject({ kind: 'stopped' });
    const final = { status: 'interrupted' } as const;
    await session.commit(writer, { answersStop: true, final });
    expect(await store.runs.interruption(session.id)).toMatchObject({ reason: 'enough' });
  });
});

describe('calls that release 0.2.0 has opened', () => {
  it('a call of release 0.2.0 is settled by the attempt that executes it, with its chunks', async () => {
    const upgraded = await openRecorded('working');
    const { session, runId, read } = upgraded;
    await session.finishCall(runId, 1, 'started', 'worked', 1, { hasEvents: true });
    expect(await session.start(runId, 1, 'open')).toMatchObject({ kind: 'execute', execution: 1 });
    await session.finishCall(runId, 1, 'open', 'opened');
    await session.claim(session.writer(runId, 2, 1));
    const rows = await rowsOf(upgraded);
    expect(rows.slice(-4).map((row) => 'toolCallId' in row && row.toolCallId)).toEqual([
      'done',
      'large',
      'started',
      'open',
    ]);
    expect(results(rows)).toMatchObject({
      done: { output: { items: [] } },
      large: { output: 'x'.repeat(70_000) },
      started: { output: 'worked', events: [{ chunk: { data: [1] } }] },
      open: { output: 'opened' },
    });
    expect((await read()).view?.openCalls).toEqual([]);
  });

  it('a started call of release 0.2.0 is not executed again, and its outcome is unknown', async () => {
    const upgraded = await openRecorded('working');
    const { session, runId } = upgraded;
    expect(await session.start(runId, 1, 'started', 2)).toEqual({ kind: 'settled' });
    expect(await session.start(runId, 1, 'done', 2)).toEqual({ kind: 'settled' });
    await session.end(runId, 'failed');
    expect(results(await rowsOf(upgraded))).toMatchObject({
      started: { errorCode: 'tool_outcome_unknown', events: [{ chunk: { data: [1] } }] },
      open: { errorCode: 'run_failed' },
    });
  });

  it('a call keeps the chunks of its newest attempt, whichever release ran the earlier ones', async () => {
    const upgraded = await openRecorded('mixed-calls');
    await upgraded.session.end(upgraded.runId, 'failed');
    expect(results(await rowsOf(upgraded))).toMatchObject({
      c1: { errorCode: 'tool_outcome_unknown', events: [{ chunk: { data: 2 } }] },
    });
  });

  it('calls of release 0.2.0 wait with their deadlines, on their owner’s list, until they are answered', async () => {
    const upgraded = await openRecorded('asking');
    const { session, runId, store, before } = upgraded;
    const deadline = before.view?.record.deadline ?? 0;
    const { sessions } = await store.waiting.page({ owner: 'ann' }, { limit: 10 });
    expect(sessions).toMatchObject([{ record: { sessionId: session.id, deadline } }]);
    expect(await session.expire(runId, 'look')).toMatchObject({ kind: 'not_due' });
    expect(await session.extend(runId, 'look', 1_000)).toMatchObject({ kind: 'too_far' });
    expect(await session.lease(runId, 'look', 'page')).toEqual({ kind: 'leased' });
    await session.answer(runId, 'look', { output: [] });
    expect((await store.sessions.read(session.id))?.deadline).toBe(deadline);
    expect(await session.decide(runId, 'pay', true)).toMatchObject({
      kind: 'stored',
      resume: { step: 1, approved: ['pay'] },
    });
    expect(await session.decide(runId, 'pay', false)).toEqual({ kind: 'already_completed' });
    expect((await store.waiting.page({ owner: 'ann' }, { limit: 10 })).sessions).toEqual([]);
    expect(await session.start(runId, 1, 'pay')).toMatchObject({ decision: { approved: true } });
    await session.finishCall(runId, 1, 'pay', 'paid');
    await session.claim(session.writer(runId, 2, 1));
    expect(results(await rowsOf(upgraded))).toMatchObject({
      pay: { output: 'paid' },
      look: { output: [] },
      work: { output: 'worked' },
    });
    expect(await session.messages('run_resumed')).toHaveLength(1);
  });

  it('expire when no answer arrived in time, and accept a late answer', async () => {
    const { session, runId } = await openRecorded('expired');
    expect(await session.decide(runId, 'pay', true)).toEqual({ kind: 'expired' });
    expect(await session.expireAs(runId, 'pay', false)).toMatchObject({ kind: 'stored' });
    expect(await session.expire(runId, 'look')).toMatchObject({ resume: { step: 1 } });
    expect(await session.answer(runId, 'look', { output: 'late' })).toMatchObject({
      kind: 'stored',
    });
    expect(await session.claim(session.writer(runId, 2, 1))).toMatchObject({ kind: 'claimed' });
  });

  it('calls of release 0.2.0 keep their due time', async () => {
    const { session, store } = await openRecorded('asking');
    expect(await store.due.adopt(10)).toBe(1);
    expect(await store.due.adopt(10)).toBe(0);
    const shard = dueShardOf(session.id);
    const [due] = await store.due.take(shard, { urgent: 9, routine: 9 }, 60_000);
    expect(due).toMatchObject({ sessionId: session.id });
    expect(await store.due.take(shard, { urgent: 9, routine: 9 }, 60_000)).toEqual([]);
  });
});

describe('sub-agents of release 0.2.0', () => {
  it('sub-agents of release 0.2.0 are answered through the conversation, and continue it', async () => {
    const upgraded = await openRecorded('delegating');
    const { session, store, streamManager, runId, before } = upgraded;
    const asked = before.view?.openCalls.filter(({ spec }) => spec.kind === 'approval') ?? [];
    expect(asked.map(({ spec }) => spec.toolCallId)).toEqual(['ask-d1', 'ask-d2']);
    const [first, second] = asked.map(({ spec }) => spec.runId);
    expect(await session.decide(first ?? '', 'ask-d1', true)).toMatchObject({ kind: 'stored' });
    const last = await session.decide(second ?? '', 'ask-d2', true);
    expect(last).toMatchObject({ others: [{ runId: first }] });
    for (const [own, callId] of [[first, 'd1'] as const, [second, 'd2'] as const]) {
      const childId = own?.slice(0, own.lastIndexOf(':')) ?? '';
      const child = drive({ store, streamManager }, childId);
      await child.start(own ?? '', 1, `ask-${callId}`);
      await child.finishCall(own ?? '', 1, `ask-${callId}`, callId);
      const writer = child.writer(own ?? '', 2, 1);
      expect(await child.claim(writer)).toMatchObject({ kind: 'claimed' });
      await child.commit(writer);
      const row = { role: 'tool', toolCallId: callId, toolName: 'subagent-tool', output: callId };
      const about = { sessionId: session.id, agentType: 'tester', toolCallId: callId, runId };
      const settled = { row: { ...row, role: 'tool' as const }, chunks: [], now: Date.now() };
      expect(await store.calls.settle({ source: 'child', ...about, ...settled })).toMatchObject({
        kind: 'stored',
      });
    }
    await session.claim(session.writer(runId, 2, 1));
    expect(results(await rowsOf(upgraded))).toMatchObject({
      d1: { output: 'd1' },
      d2: { output: 'd2' },
    });
  });
});

describe('messages that wait since release 0.2.0', () => {
  it('steer the run at its next step, in their order, and the rest follow it', async () => {
    const { session, runId, store } = await openRecorded('queued');
    const expectedHash = 'hello from u4';
    const message = { id: 'u4', hash: 'other', row: { ...row('u4', 'other') } };
    const edit = { sessionId: session.id, message, expectedHash, now: Date.now() };
    expect(await store.queue.edit(edit)).toEqual({ kind: 'edited' });
    const writer = session.writer(runId, 2, 1);
    expect(await session.commit(writer)).toMatchObject({ kind: 'steered' });
    const next = session.writer(runId, 3, 1);
    await session.claim(next);
    expect(await session.commit(next)).toMatchObject({ kind: 'committed', next: true });
    for (const id of ['u2', 'u4']) {
      const begun = await store.queue.begin({
        sessionId: session.id,
        nonce: newNonce(),
        now: Date.now(),
      });
      if (begun.kind !== 'begun') throw new Error(`the queue replied ${begun.kind}`);
      expect((await store.sessions.view(session.id))?.rows.at(-1)).toMatchObject({ id });
      await session.end(begun.run.runId, 'completed');
    }
    const rows = (await store.sessions.view(session.id))?.rows ?? [];
    expect(rows.flatMap((each) => (each.role === 'user' ? each.id : []))).toEqual([
      'u1',
      'u3',
      'u2',
      'u4',
    ]);
    expect(rows.at(-1)).toMatchObject({ parts: [{ text: 'other' }] });
  });
});

function row(id: string, text: string): Row {
  return { role: 'user', id, parts: [{ type: 'text', text }] };
}
