import { ok } from 'node:assert/strict';
import { equal, eventually, includes, refuses } from '../assertions.js';
import { AGENT, approval, client, server, textChunk } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import { collect } from '../stream/collect.js';
import type { Suite } from '../suite.js';

/** Plays a run with this many committed steps. */
async function commitSteps(session: SessionDriver, steps: number): Promise<string> {
  const { runId } = await session.newRun();
  for (let step = 1; step <= steps; step += 1) {
    const id = `c${runId}-${String(step)}`;
    const row = { role: 'tool' as const, toolCallId: id, toolName: 't', error: 'x' };
    await session.ask(runId, step, [server(id, { row })]);
  }
  return runId;
}

function checkpointCases({ describe, it }: Suite): void {
  describe('checkpoints', () => {
    it('a checkpoint describes the session after its step was committed', async (setup) => {
      const { store, session } = setup;
      await refuses(store.checkpoints.latest(session.id), 'not_found');
      await refuses(store.checkpoints.list(session.id), 'not_found');
      await session.newRun();
      equal(await store.checkpoints.latest(session.id), null);
      equal(await store.checkpoints.list(session.id), { checkpoints: [] });
      await session.stop();
      const runId = await commitSteps(session, 2);
      includes(await store.checkpoints.latest(session.id), {
        id: `cpv1-${session.id}-s2-${runId.split(':')[1] ?? ''}`,
        runId,
        stepCount: 2,
        messageCount: 6,
      });
    });

    it('checkpoints are listed newest first, page by page', async ({ store, session }) => {
      await commitSteps(session, 7);
      const steps: number[] = [];
      const pages: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.checkpoints.list(session.id, {
          limit: 3,
          cursor,
        });
        steps.push(...page.checkpoints.map(({ stepCount }) => stepCount));
        pages.push(page.checkpoints.length);
        cursor = page.cursor;
      } while (cursor !== undefined);
      equal(steps, [7, 6, 5, 4, 3, 2, 1]);
      equal(pages, [3, 3, 1]);
      equal((await store.checkpoints.list(session.id, { limit: 7 })).cursor, undefined);
    });

    it('pages of checkpoints stay consistent while new ones are added', async (setup) => {
      const { store, session } = setup;
      await commitSteps(session, 4);
      const { cursor = '' } = await store.checkpoints.list(session.id, { limit: 2 });
      await session.stop();
      await commitSteps(session, 1);
      includes(await store.checkpoints.list(session.id, { limit: 2, cursor }), {
        checkpoints: [{ stepCount: 2 }, { stepCount: 1 }],
      });
    });

    it('a checkpoint is found by its id, with the state of that moment', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.save({ at: 'commit' }, 0);
      await session.ask(runId, 1, [approval('a')]);
      await session.save({ at: 'later' }, 1);
      await session.save({ at: 'now' }, 2);
      const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
      includes(await store.checkpoints.get(session.id, id), {
        id,
        stateVersion: 1,
        customState: { at: 'commit' },
      });
      includes(await session.load(), { customState: { at: 'now' } });
    });

    it('a checkpoint of another session is not found', async ({ store, session, streamId }) => {
      await commitSteps(session, 1);
      const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
      const begun = { sessionId: streamId, agent: 'tester', owner: 'bob', nonce: 'n', now: 1 };
      const row = { role: 'user' as const, id: 'u', parts: [] };
      const messages = [{ id: 'u', hash: 'u', row, hidden: false }];
      await store.runs.begin({ ...begun, messages });
      equal(await store.checkpoints.get(streamId, id), null);
      equal(await store.checkpoints.get(session.id, 'cpv1-nothing'), null);
      await refuses(store.checkpoints.get('no-such-session', id), 'not_found');
    });

    it('a malformed cursor is refused', async ({ store, session }) => {
      await commitSteps(session, 2);
      for (const cursor of ['x', '-1', '1.5', '']) {
        await refuses(store.checkpoints.list(session.id, { cursor }), 'validation_error');
      }
      await refuses(store.checkpoints.list(session.id, { limit: -1 }), 'validation_error');
    });
  });
}

function pendingCallCases({ describe, it }: Suite): void {
  describe('pending calls', () => {
    it('calls of people and clients are listed with their answers', async ({ session }) => {
      await refuses(session.pending(), 'not_found');
      const { runId } = await session.newRun();
      equal(await session.pending(), {});
      await session.ask(runId, 1, [
        approval('a', { deadlineMs: 60_000 }),
        client('c'),
        server('s'),
      ]);
      equal(Object.keys(await session.pending()).sort(), ['a', 'c']);
      await session.carryOut(runId, 1, 's', 1);
      await session.answer(runId, 'c', { output: 7 });
      const calls = await session.pending();
      includes(calls, {
        a: {
          toolCallId: 'a',
          toolName: 'approval-tool',
          kind: 'approval',
          input: { of: 'a' },
          runId,
          approvalId: `${runId}::a`,
        },
        c: { kind: 'client', response: { row: { output: 7 } } },
      });
      ok((calls['a']?.deadline ?? 0) > Date.now());
      equal([calls['a']?.response, calls['c']?.deadline], [undefined, undefined]);
      await session.decide(runId, 'a', true);
      includes((await session.pending())['a'], {
        response: { decision: { approved: true } },
      });
    });
  });
}

function deletionCases({ describe, it }: Suite): void {
  describe('erase', () => {
    it('erasing removes the session and its stream', async ({ store, streamManager, session }) => {
      const { runId } = await session.newRun();
      await session.save({ a: 1 }, 0);
      await session.enqueue('u2');
      await session.ask(runId, 1, [approval('a')]);
      await store.staging.stage(session.id, 's1', { toolCallId: 'a', patches: [] });
      await store.sessions.erase(session.id);
      equal(await session.load(), null);
      equal(await session.rows(), []);
      equal(await session.queue(), []);
      equal(await session.call('a'), undefined);
      equal(await session.accepted(['u1']), []);
      equal(await streamManager.getStreamInfo(session.id), null);
      equal(await streamManager.getAllChunks(session.id), []);
      equal(await session.decide(runId, 'a', true), { kind: 'not_pending' });
      await store.sessions.erase(session.id);
    });

    it('an erasure by a person is noted with its runs until it is done', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.asked();
      const { runId: newest } = await session.newRun();
      const act = { id: session.id, at: 5, by: 'ann', action: 'erase' as const };
      await store.sessions.erase(session.id, act);
      equal(await session.load(), null);
      const [erasure, ...others] = await store.erasures.of(session.id);
      equal(others, []);
      includes(erasure, { act, owner: { owner: 'ann' }, starting: newest, parts: [], rows: 3 });
      equal(erasure?.runs.toSorted(), [runId, newest].toSorted());
      equal((erasure?.bytes ?? 0) > 0, true);
      includes(await store.audit.relay(session.id), [
        { action: 'erase', outcome: 'erased', target: { runId: newest } },
      ]);
      // The id is free; the rest of the erasure does not touch the next session.
      await session.asked(approval('a'));
      if (erasure !== undefined) {
        await store.erasures.clear(session.id, erasure);
        ok((await store.waiting.since(session.id)) !== undefined);
        await store.erasures.done(session.id, erasure);
      }
      equal(await store.erasures.of(session.id), []);
      includes(await session.record(), { turn: 1 });
      await store.sessions.erase(session.id);
      equal(await store.erasures.of(session.id), []);
    });

    it('a conversation is listed until each erasure of its id is done', async (setup) => {
      const { store, session } = setup;
      const isListed = async (): Promise<boolean> =>
        (await store.erasures.pending({ owner: 'ann' })).includes(session.id);
      for (const time of ['first', 'second']) {
        await session.newRun();
        const act = { id: `${session.id} ${time}`, at: 5, by: 'ann', action: 'erase' as const };
        await store.sessions.erase(session.id, act);
      }
      for (const erasure of await store.erasures.of(session.id)) {
        equal(await isListed(), true);
        await store.erasures.done(session.id, erasure);
      }
      equal(await isListed(), false);
    });

    it('erasing ends readers', async ({ store, streamManager, session, another }) => {
      await session.newRun();
      const reader = await (await another()).streamManager.createReader(session.id);
      const read = collect(reader);
      const beside = await streamManager.createWriter(session.id, session.id, AGENT);
      await beside.write(textChunk('x'));
      await eventually('it is live', () => read.items.length === 1);
      await store.sessions.erase(session.id);
      await read.done;
      equal(reader.status === 'active', false);
    });
  });
}

export function sessionCases(suite: Suite): void {
  checkpointCases(suite);
  pendingCallCases(suite);
  deletionCases(suite);
}
