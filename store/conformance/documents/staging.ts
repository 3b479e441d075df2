import { equal, includes, refuses } from '../assertions.js';
import type { Suite } from '../suite.js';
import { begun, set } from './staged.js';

export function stagingCases({ describe, it }: Suite): void {
  describe('staged changes', () => {
    it('staged changes take effect only when promoted, all of them and in order', async (setup) => {
      const { session } = setup;
      const { stage, promote, state } = await begun(setup, { list: [] });
      await stage('a', set('/list/-', 'a'), set('/name', 'a'));
      await stage('b', set('/list/-', 'b'), { op: 'replace', path: '/name', value: 'b' });
      equal(await state(), { list: [] });
      const customState = { list: ['a', 'b'], name: 'b' };
      equal(await promote(), { customState, version: 2, toolCallIds: ['a', 'b'] });
      equal(await promote(), { customState, version: 2, toolCallIds: [] });
      includes(await session.load(), { customState, version: 2 });
    });

    it('staged changes are promoted all or none', async (setup) => {
      const { session } = setup;
      const { stage, promote, state } = await begun(setup, { n: 1 });
      await stage('a', set('/a', 1));
      await stage('b', { op: 'test', path: '/n', value: 2 }, set('/b', 1));
      const error = await refuses(promote(), 'invalid_patch');
      includes(error.detail, { toolCallId: 'b' });
      equal(await state(), { n: 1 });
      await session.save({ n: 2 }, 1);
      includes(await promote(), { customState: { n: 2, a: 1, b: 1 }, toolCallIds: ['a', 'b'] });
    });

    it('what fits no state is refused, and can be discarded', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup, { n: 1 });
      for (const patch of [
        { op: 'remove' as const, path: '/nothing' },
        set('/__proto__/polluted', true),
        { op: 'replace' as const, path: '', value: [] },
      ]) {
        await stage('c', patch);
        await refuses(promote(), 'invalid_patch');
      }
      equal(await state(), { n: 1 });
      await stage('c');
      equal(await store.staging.discard(session.id, 's1'), ['c']);
    });

    it('keys are merged before patches are applied', async (setup) => {
      const { store, session } = setup;
      const { promote } = await begun(setup, { a: 1, b: 1 });
      const mergeChanges = { b: 2, c: { d: 1 } };
      const patches = [set('/c/e', 2)];
      await store.staging.stage(session.id, 's1', { toolCallId: 'x', patches, mergeChanges });
      includes(await promote(), { customState: { a: 1, b: 2, c: { d: 1, e: 2 } } });
    });

    it('changes of steps and calls with similar ids are kept separate', async (setup) => {
      const { store, session } = setup;
      const { state } = await begun(setup);
      const ids: [string, string][] = [
        ['s1', 'x/c'],
        ['s1/x', 'c'],
        ['s1%2Fx', 'c'],
        ['s1', 'n'],
        ['n', '1 2'],
      ];
      for (const [at, [stepId, toolCallId]] of ids.entries()) {
        const patches = [set(`/${String(at)}`, true)];
        await store.staging.stage(session.id, stepId, { toolCallId, patches });
      }
      equal(await store.staging.discard(session.id, 's1%2Fx'), ['c']);
      includes(await store.staging.promote(session.id, 's1'), { toolCallIds: ['x/c', 'n'] });
      equal(await store.staging.discard(session.id, 's1'), []);
      includes(await store.staging.promoteSettled(session.id), { toolCallIds: ['c', '1 2'] });
      equal(await state(), { 0: true, 1: true, 3: true, 4: true });
    });

    it('changes of a call replace its earlier ones and leave those of other steps', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup);
      await stage('a', set('/a', 1));
      await stage('a', set('/a', 2));
      const other = { toolCallId: 'a', patches: [set('/other', 1)] };
      await store.staging.stage(session.id, 's2', other);
      includes(await promote(), { customState: { a: 2 }, toolCallIds: ['a'] });
      equal(await store.staging.discard(session.id, 's2'), ['a']);
      equal(await store.staging.discard(session.id, 's2'), []);
      equal(await state(), { a: 2 });
    });

    it('staging requires an existing session', async ({ store, session }) => {
      const changes = { toolCallId: 'a', patches: [] };
      await refuses(store.staging.stage(session.id, 's1', changes), 'not_found');
      await refuses(store.staging.promote(session.id, 's1'), 'not_found');
      equal(await store.staging.discard(session.id, 's1'), []);
      equal(await session.load(), null);
    });
  });
}
