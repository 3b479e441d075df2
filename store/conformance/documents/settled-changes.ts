import { equal, includes } from '../assertions.js';
import type { JSONPatchOperation } from '../../../protocol/chunk.js';
import { server } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { begun, isPolluted, set } from './staged.js';

export function settledChangeCases({ describe, it }: Suite): void {
  describe('changes that calls settle with', () => {
    const settle = (
      { store, session }: Case,
      runId: string,
      toolCallId: string,
      changes: JSONPatchOperation[],
      output?: unknown,
    ) =>
      store.calls.settle({
        source: 'tool',
        writer: session.callWriter(runId, 1, toolCallId, 1),
        toolCallId,
        row: { role: 'tool', toolCallId, toolName: 'server-tool', output: 1 },
        changes,
        output,
        chunks: [],
        now: 1,
      });

    it('changes of settled calls are visible at once and promoted once, whatever their step', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.save({ list: [] }, 0);
      await session.ask(runId, 1, [server('a'), server('b')]);
      await session.start(runId, 1, 'a', 1);
      await session.start(runId, 1, 'b', 1);
      await settle(setup, runId, 'b', [set('/list/0', 'b')]);
      await settle(setup, runId, 'a', [set('/list/0', 'a')]);
      // Only the first result of a call counts, and only its changes.
      await settle(setup, runId, 'a', [set('/list/0', 'again')]);
      const other = { toolCallId: 'c', patches: [set('/list/-', 'c')] };
      await store.staging.stage(session.id, 'of/another/step', other);
      const customState = { list: ['a', 'b', 'c'] };
      equal(await store.documents.readState(session.id), { customState, version: 1 });
      equal(await store.documents.readState(session.id, 'turn'), {
        customState: { list: [] },
        version: 1,
      });
      includes(await session.load(), { customState: { list: [] } });
      const toolCallIds = ['b', 'a', 'c'];
      equal(await store.staging.promoteSettled(session.id), {
        customState,
        version: 2,
        toolCallIds,
      });
      equal(await store.staging.promoteSettled(session.id), {
        customState,
        version: 2,
        toolCallIds: [],
      });
      equal(await store.documents.readState(session.id, 'turn'), {
        customState: { list: [] },
        version: 1,
      });
    });

    it('conflicting changes of concurrent calls are adapted, and none is lost', async (setup) => {
      const { store, session } = setup;
      const { stage } = await begun(setup, { a: { b: 1 }, list: [1, 2], n: 1 });
      await stage('x', { op: 'remove', path: '/a' }, { op: 'replace', path: '/list', value: [] });
      await stage(
        'y',
        { op: 'replace', path: '/a/b/c', value: 2 },
        { op: 'replace', path: '/list/1', value: 'end' },
        { op: 'remove', path: '/a/gone' },
        { op: 'replace', path: '/n', value: 2 },
        set('/toString/polluted/deep', true),
      );
      const { customState } = await store.staging.promoteSettled(session.id);
      const toString = { polluted: { deep: true } };
      equal(customState, { a: { b: { c: 2 } }, list: ['end'], n: 2, toString });
      equal(isPolluted(), false);
    });

    it('the result of the run that comes with changes is the first one', async (setup) => {
      const { session } = setup;
      const { runId } = await session.asked(server('a'), server('b'));
      await session.start(runId, 1, 'a', 1);
      await session.start(runId, 1, 'b', 1);
      await settle(setup, runId, 'a', [], { first: [] });
      await settle(setup, runId, 'b', [], 'second');
      includes(await session.record(), { output: { first: [] } });
      await session.end(runId, 'completed');
      includes(await session.messages('output'), [{ output: { first: [] } }]);
    });
  });
}
