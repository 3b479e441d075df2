import { equal, includes, refuses } from '../assertions.js';
import type { JsonPatchOperation } from '../../../protocol/chunk.js';
import { newCall } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

const set = (path: string, value: unknown) => ({ op: 'add' as const, path, value });

/** True if a change reached the prototype that all objects share. */
function isPolluted(): boolean {
  return 'polluted' in {} || 'polluted' in (Reflect.get({}, 'toString') as object);
}

async function begun(setup: Case, customState: Record<string, unknown> = {}) {
  const { store, session } = setup;
  await session.newRun();
  await store.documents.save(session.id, { customState, version: 0 });
  return {
    stage: (toolCallId: string, ...patches: Parameters<typeof store.staging.stage>[2]['patches']) =>
      store.staging.stage(session.id, 's1', { toolCallId, patches }),
    promote: () => store.staging.promote(session.id, 's1'),
    state: async () => (await store.documents.load(session.id))?.customState,
  };
}

export function stagingCases({ describe, it }: Suite): void {
  describe('staged changes', () => {
    it('staged changes take effect only when promoted, all of them and in order', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup, { list: [] });
      await stage('a', set('/list/-', 'a'), set('/name', 'a'));
      await stage('b', set('/list/-', 'b'), { op: 'replace', path: '/name', value: 'b' });
      equal(await state(), { list: [] });
      equal(await promote(), {
        customState: { list: ['a', 'b'], name: 'b' },
        version: 2,
        toolCallIds: ['a', 'b'],
      });
      includes(await store.documents.load(session.id), {
        customState: { list: ['a', 'b'], name: 'b' },
        version: 2,
      });
    });

    it('staged changes are promoted once', async (setup) => {
      const { stage, promote } = await begun(setup, { list: [] });
      await stage('a', set('/list/-', 'a'));
      await promote();
      equal(await promote(), { customState: { list: ['a'] }, version: 2, toolCallIds: [] });
    });

    it('staged changes are promoted all or none', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup, { n: 1 });
      await stage('a', set('/a', 1));
      await stage('b', { op: 'test', path: '/n', value: 2 }, set('/b', 1));
      const error = await refuses(promote(), 'invalid_patch');
      includes(error.detail, { toolCallId: 'b' });
      equal(await state(), { n: 1 });
      await store.documents.save(session.id, { customState: { n: 2 }, version: 1 });
      includes(await promote(), { customState: { n: 2, a: 1, b: 1 }, toolCallIds: ['a', 'b'] });
    });

    it('all operations of RFC 6902 are supported', async (setup) => {
      const { stage, promote } = await begun(setup, { a: { b: 1 }, list: [1, 2, 3], 'x/y~z': 1 });
      await stage(
        'c',
        { op: 'move', from: '/a/b', path: '/moved' },
        { op: 'copy', from: '/list/0', path: '/list/3' },
        { op: 'remove', path: '/list/1' },
        { op: 'replace', path: '/x~1y~0z', value: 2 },
      );
      includes(await promote(), {
        customState: { a: {}, moved: 1, list: [1, 3, 1], 'x/y~z': 2 },
      });
    });

    it('a pointer that does not match, a malformed pointer and a state that is not an object are refused', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup, { n: 1 });
      for (const patch of [
        { op: 'remove' as const, path: '/nothing' },
        set('no-slash', 1),
        set('/a/b/c', 1),
        { op: 'replace' as const, path: '', value: [] },
        { op: 'move' as const, path: '/n' },
      ]) {
        await stage('c', patch);
        await refuses(promote(), 'invalid_patch');
      }
      equal(await state(), { n: 1 });
      for (const inherited of ['__proto__', 'constructor/prototype', 'toString', 'valueOf/call']) {
        await stage('c', set(`/${inherited}/polluted`, true));
        await refuses(promote(), 'invalid_patch');
      }
      equal(isPolluted(), false);
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

    it('keys with the names of inherited properties are ordinary keys', async (setup) => {
      const names = ['__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'toString', ''];
      const object = (value: unknown): Record<string, unknown> =>
        Object.fromEntries(names.map((name) => [name, value]));
      const { store, session } = setup;
      const { promote } = await begun(setup, object({ n: 1 }));
      const patches = names.map((name) => set(`/${name}/m`, name));
      const removals = names.map((name) => ({ op: 'remove' as const, path: `/${name}/n` }));
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'c',
        patches: [...patches, ...removals, set('/list', names)],
        mergeChanges: { more: object([]) },
      });
      const expected = Object.fromEntries(names.map((name) => [name, { m: name }]));
      includes(await promote(), {
        customState: { ...expected, list: names, more: object([]) },
      });
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'd',
        patches: [{ op: 'remove', path: '/more' }],
        mergeChanges: object({}),
      });
      includes(await promote(), { customState: { ...object({}), list: names } });
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
      equal(await store.documents.load(session.id), null);
    });
  });

  describe('changes that calls settle with', () => {
    const settle = (
      { store, session }: Case,
      runId: string,
      toolCallId: string,
      changes: JsonPatchOperation[],
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
      await store.documents.save(session.id, { customState: { list: [] }, version: 0 });
      await session.ask(runId, 1, [newCall('a', 'server'), newCall('b', 'server')]);
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
      includes(await store.documents.load(session.id), { customState: { list: [] } });
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
      const { store, session } = setup;
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'server'), newCall('b', 'server')]);
      await session.start(runId, 1, 'a', 1);
      await session.start(runId, 1, 'b', 1);
      await settle(setup, runId, 'a', [], { first: [] });
      await settle(setup, runId, 'b', [], 'second');
      includes(await store.sessions.read(session.id), { output: { first: [] } });
      await session.end(runId, 'completed');
      includes(await session.messages('output'), [{ output: { first: [] } }]);
    });
  });

  describe('staged changes under concurrency', () => {
    it('concurrent promoters take each change once', async (setup) => {
      const { session, another } = setup;
      const other = (await another()).store;
      const { stage, promote, state } = await begun(setup, { list: [] });
      for (let n = 0; n < 10; n += 1) await stage(`c${String(n)}`, set('/list/-', n));
      await Promise.all([
        promote(),
        other.staging.promote(session.id, 's1'),
        promote(),
        other.staging.promote(session.id, 's1'),
      ]);
      equal(await state(), { list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
    });

    it('a promotion that overtakes a save refuses that save and loses no change', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup);
      for (let n = 0; n < 10; n += 1) {
        await stage(`c${String(n)}`, set(`/c${String(n)}`, n));
        const { version = 0, customState = {} } = (await store.documents.load(session.id)) ?? {};
        await Promise.all([
          promote(),
          store.documents
            .save(session.id, { customState: { ...customState, saved: n }, version })
            .catch((error: unknown) => refuses(Promise.reject(error as Error), 'stale_state')),
        ]);
      }
      includes(
        await state(),
        Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`c${String(n)}`, n])),
      );
    });

    it('changes that are replaced while being promoted are not lost', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup);
      // After a varying number of reads the replacement falls between two commands of the
      // promotion. On a busy machine one of them may run ahead, so this is repeated.
      for (let attempt = 0; attempt < 32; attempt += 1) {
        await stage('c', set('/value', `old ${String(attempt)}`));
        const promoting = promote();
        for (let reads = attempt % 8; reads > 0; reads -= 1) await store.sessions.read(session.id);
        await stage('c', set('/value', `new ${String(attempt)}`));
        await promoting;
        await promote();
        equal(await state(), { value: `new ${String(attempt)}` });
      }
    });
  });
}
