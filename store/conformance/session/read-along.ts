import { equal, includes } from '../assertions.js';
import { set } from '../documents/state.js';
import { server } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

/** Cases for the data that `claim` and `start` read along for the step or call. */
export function readAlongCases({ describe, it }: Suite): void {
  describe('read along', () => {
    const claim = (
      { store, session }: Case,
      runId: string,
      step: number,
      wants: { state: boolean; born: string; rows: number },
    ) =>
      store.steps.claim({
        writer: session.writer(runId, step, 5),
        known: 0,
        now: Date.now(),
        wants,
      });

    it('a claim brings the rows that the caller does not have, with the results that it takes in', async (setup) => {
      const { session } = setup;
      const { runId } = await session.asked(server('s'));
      await session.start(runId, 1, 's', 1);
      await session.finishCall(runId, 1, 's', { text: 'x'.repeat(80_000) }, 1);
      const claimed = await claim(setup, runId, 2, { state: false, born: '', rows: 0 });
      if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
      const rows = await session.rows();
      includes(claimed, { rowCount: 3, fresh: { from: 0 } });
      equal(claimed.fresh?.rows, rows);
      equal(claimed.state, undefined);
      const { born } = claimed;
      includes(await claim(setup, runId, 2, { state: false, born, rows: 2 }), {
        fresh: { from: 2, rows: rows.slice(2) },
      });
      includes(await claim(setup, runId, 2, { state: false, born, rows: 3 }), {
        fresh: { from: 3, rows: [] },
      });
      // The held rows are of an erased session with this id, or of a store before it was restored.
      for (const held of [
        { born: 'before', rows: 2 },
        { born, rows: 9 },
      ]) {
        includes(await claim(setup, runId, 2, { state: false, ...held }), {
          fresh: { from: 0, rows },
        });
      }
    });

    it('a claim leaves many rows to the caller', async (setup) => {
      const { session } = setup;
      const messages = Array.from({ length: 150 }, (_, at) => {
        const id = `m${String(at)}`;
        const row = { role: 'user' as const, id, parts: [{ type: 'text' as const, text: id }] };
        return { id, hash: id, row, hidden: false };
      });
      const run = await session.newRun({ messages });
      includes(await claim(setup, run.runId, 1, { state: false, born: '', rows: 0 }), {
        rowCount: 150,
        fresh: { from: 150, rows: [] },
      });
    });

    it('a claim leaves large rows to the caller, however few they are', async (setup) => {
      const { session } = setup;
      const messages = Array.from({ length: 30 }, (_, at) => {
        const id = `m${String(at)}`;
        const long = 'ä'.repeat(at < 20 ? 40_000 : 10_000);
        const row = { role: 'user' as const, id, parts: [{ type: 'text' as const, text: long }] };
        return { id, hash: id, row, hidden: false };
      });
      const { runId } = await session.newRun({ messages });
      const claimed = await claim(setup, runId, 1, { state: false, born: '', rows: 0 });
      includes(claimed, { rowCount: 30, fresh: { from: 30, rows: [] } });
      if (claimed.kind !== 'claimed') return;
      const rows = await session.rows(18);
      const held = { state: false, born: claimed.born, rows: 18 };
      includes(await claim(setup, runId, 1, held), { rowCount: 30, fresh: { from: 18, rows } });
    });

    it('claim and start call bring the agent’s state, with the changes that wait for the next step', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      includes(await claim(setup, runId, 1, { state: true, born: '', rows: 0 }), {
        state: { version: 0, customState: {}, staged: [] },
      });
      await session.commit(session.writer(runId, 1, 5), { calls: [server('s')] });
      await session.save({ list: [], '/~': null }, 0);
      await store.staging.stage(session.id, 'of/1', { toolCallId: 'b', patches: [set('/b', 1)] });
      await store.staging.stage(session.id, '1', { toolCallId: 'a', patches: [set('/a', 2)] });
      const start = await store.calls.start({
        writer: session.callWriter(runId, 1, 's', 7),
        toolCallId: 's',
        now: Date.now(),
        withState: true,
      });
      includes(start, { kind: 'execute', state: { list: [], '/~': null, a: 2, b: 1 } });
      await session.finishCall(runId, 1, 's', 'done', 7);
      const claimed = await claim(setup, runId, 2, { state: true, born: '', rows: 0 });
      if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
      includes(claimed.state, { version: 1, customState: { list: [], '/~': null } });
      equal(
        claimed.state?.staged.map(({ toolCallId }) => toolCallId),
        ['b', 'a'],
      );
      // A current read is promoted as it is; an outdated one is repeated.
      const customState = { list: [], '/~': null, a: 2, b: 1 };
      includes(await store.staging.promoteSettled(session.id, claimed.state), {
        customState,
        version: 2,
      });
      await store.staging.stage(session.id, '2', { toolCallId: 'c', patches: [set('/c', 3)] });
      includes(await store.staging.promoteSettled(session.id, claimed.state), {
        customState: { ...customState, c: 3 },
        version: 3,
      });
    });
  });
}
