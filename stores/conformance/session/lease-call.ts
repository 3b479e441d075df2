import { ok } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import { eventually } from '../eventually.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function leaseCases({ describe, it }: Suite): void {
  describe('lease call', () => {
    it('lets one page carry out a call, as long as it says so', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
      const held = await session.lease(runId, 'c', 'page 2');
      const left = held.kind === 'held' ? held.forMs : 0;
      ok(left > 0 && left <= 60_000, `held for ${String(left)} ms`);
      equal(await session.lease(runId, 'd', 'page 2'), { kind: 'leased' });
    });

    it('is over in time', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      equal(await session.lease(runId, 'c', 'page 1', 1), { kind: 'leased' });
      await eventually('the lease is over', async () => {
        const { kind } = await session.lease(runId, 'c', 'page 2');
        return kind === 'leased';
      });
    });

    it('is given back by who has it, and by nobody else', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      await session.lease(runId, 'c', 'page 1');
      includes(await session.lease(runId, 'c', 'page 2', 0), { kind: 'held' });
      includes(await session.lease(runId, 'c', 'page 2'), { kind: 'held' });
      equal(await session.lease(runId, 'c', 'page 1', 0), { kind: 'leased' });
      equal(await session.lease(runId, 'c', 'page 2'), { kind: 'leased' });
    });

    it('takes answers from anybody, and is void with them', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      await session.lease(runId, 'c', 'page 1');
      includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'already_completed' });
    });

    it('refuses what no page carries out', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      equal(await session.lease(runId, 'x', 'page 1'), { kind: 'not_pending' });
      equal(await session.lease(runId, 'a', 'page 1'), { kind: 'kind_mismatch' });
      equal(await session.lease(`${session.id}:9-x`, 'c', 'page 1'), { kind: 'stale_run' });
    });
  });
}
