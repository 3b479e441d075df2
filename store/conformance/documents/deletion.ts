import { equal, includes, eventually } from '../assertions.js';
import { AGENT, approval, textChunk } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { collect } from '../stream/collect.js';

export function deletionCases({ describe, it }: Suite): void {
  describe('erase', () => {
    it('erasing removes the session and its stream', async ({ store, streamManager, session }) => {
      const { runId } = await session.newRun();
      await session.save({ a: 1 }, 0);
      await session.ask(runId, 1, [approval('a')]);
      await store.staging.stage(session.id, 's1', { toolCallId: 'a', patches: [] });
      await store.sessions.erase(session.id);
      equal(await session.load(), null);
      equal(await session.rows(), []);
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
      includes(erasure, { act, owner: { owner: 'ann' }, starting: true, parts: [], rows: 3 });
      equal(erasure?.runs.toSorted(), [runId, newest].toSorted());
      equal((erasure?.bytes ?? 0) > 0, true);
      includes(await store.audit.relay(session.id), [
        { action: 'erase', outcome: 'erased', target: { runId: newest } },
      ]);
      // The id is free: what is left of the erasure does not touch the next session.
      await session.newRun('u1');
      if (erasure !== undefined) {
        await store.erasures.clear(session.id, erasure);
        await store.erasures.done(session.id, erasure);
      }
      equal(await store.erasures.of(session.id), []);
      includes(await session.record(), { turn: 1 });
      await store.sessions.erase(session.id);
      equal(await store.erasures.of(session.id), []);
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
