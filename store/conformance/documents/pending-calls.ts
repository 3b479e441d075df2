import { ok } from 'node:assert/strict';
import { equal, includes, refuses } from '../assertions.js';
import { approval, client, server } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function pendingCallCases({ describe, it }: Suite): void {
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

  describe('the suspension context', () => {
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
}
