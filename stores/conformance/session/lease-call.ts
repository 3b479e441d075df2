import { ok } from 'node:assert/strict';
import { equal, includes, eventually } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function leaseCases({ describe, it }: Suite): void {
  describe('lease call', () => {
    it('one page carries out a call while it renews its lease', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
      const held = await session.lease(runId, 'c', 'page 2');
      const left = held.kind === 'held' ? held.forMs : 0;
      ok(left > 0 && left <= 60_000, `held for ${String(left)} ms`);
      equal(await session.lease(runId, 'd', 'page 2'), { kind: 'leased' });
    });

    it('a lease expires', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      equal(await session.lease(runId, 'c', 'page 1', 1), { kind: 'leased' });
      await eventually('the lease is over', async () => {
        const { kind } = await session.lease(runId, 'c', 'page 2');
        return kind === 'leased';
      });
    });

    it('only its holder can release a lease', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      await session.lease(runId, 'c', 'page 1');
      includes(await session.lease(runId, 'c', 'page 2', 0), { kind: 'held' });
      includes(await session.lease(runId, 'c', 'page 2'), { kind: 'held' });
      equal(await session.lease(runId, 'c', 'page 1', 0), { kind: 'leased' });
      equal(await session.lease(runId, 'c', 'page 2'), { kind: 'leased' });
    });

    it('an answer is accepted from any page and ends the lease', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client'), newCall('d', 'client')]);
      await session.lease(runId, 'c', 'page 1');
      includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
      equal(await session.lease(runId, 'c', 'page 1'), { kind: 'already_completed' });
    });

    it('calls that no page carries out are refused', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      equal(await session.lease(runId, 'x', 'page 1'), { kind: 'not_pending' });
      equal(await session.lease(runId, 'a', 'page 1'), { kind: 'kind_mismatch' });
      equal(await session.lease(`${session.id}:9-x`, 'c', 'page 1'), { kind: 'stale_run' });
    });
  });
}
