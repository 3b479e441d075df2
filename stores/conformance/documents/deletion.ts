import { equal, includes, eventually } from '../assertions.js';
import { AGENT, newCall, textChunk } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { collect } from '../stream/collect.js';

export function deletionCases({ describe, it }: Suite): void {
  describe('erase', () => {
    it('erasing removes the session and its stream', async ({ store, streamManager, session }) => {
      const { runId } = await session.newRun();
      await store.documents.save(session.id, { customState: { a: 1 }, version: 0 });
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await store.staging.stage(session.id, 's1', { toolCallId: 'a', patches: [] });
      await store.sessions.erase(session.id);
      equal(await store.documents.load(session.id), null);
      equal(await store.sessions.rows(session.id, 0), []);
      equal(await store.calls.read(session.id, 'a'), undefined);
      equal(await store.sessions.acceptedMessages(session.id, ['u1']), []);
      equal(await streamManager.getStreamInfo(session.id), null);
      equal(await streamManager.getAllChunks(session.id), []);
      equal(await session.decide(runId, 'a', true), { kind: 'not_pending' });
      await store.sessions.erase(session.id);
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
      equal(reader?.status === 'active', false);
    });

    it('a writer of the erased run cannot write into the next session of that id', async ({
      session,
      store,
    }) => {
      const { runId } = await session.newRun('u1');
      const old = session.writer(runId, 1, 1);
      await session.claim(old);
      await session.say(old, 1, 'old');
      await store.sessions.erase(session.id);
      const next = await session.newRun('u1');
      includes(next, { turn: 1, startSequence: 0 });
      equal(await session.say(old, 2, 'zombie', 0), { kind: 'superseded' });
      equal(await session.commit(old), { kind: 'superseded' });
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
      equal(await session.log(), []);
    });
  });
}
