import { ok } from 'node:assert/strict';
import type { JSONPatchOperation } from '../../../protocol/chunk.js';
import { StaleStateError } from '../../../protocol/errors.js';
import { equal, includes, refuses } from '../assertions.js';
import { approval, server, userMessage } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import type { PromotedState } from '../../contract/documents.js';

function stateCases({ describe, it }: Suite): void {
  describe('load and save', () => {
    it('loading returns everything about a session, or null', async ({ session }) => {
      equal(await session.load(), null);
      const { runId } = await session.asked(approval('a'));
      const state = await session.load();
      includes(state, {
        sessionId: session.id,
        agent: 'tester',
        runId,
        status: 'waiting_approval',
        customState: {},
        version: 0,
        messages: [{ role: 'user' }, { role: 'assistant' }],
        pendingClientToolCalls: { a: { kind: 'approval', runId } },
        suspensionContext: { kind: 'suspended_client_tool', toolCallIds: ['a'] },
      });
      equal(state?.interruptContext, undefined);
      await session.stop({ reason: 'why', by: 'ann' });
      includes((await session.load())?.interruptContext, {
        runId,
        mode: 'interrupt',
        reason: 'why',
        by: 'ann',
      });
    });

    it('a state is saved only over the version that was loaded', async ({ session }) => {
      await session.newRun();
      equal(await session.save({ a: 1 }, 0), {
        version: 1,
      });
      const error = await refuses(session.save({ a: 2 }, 0), 'stale_state');
      ok(error instanceof StaleStateError);
      includes(await session.load(), { customState: { a: 1 }, version: 1 });
      await refuses(session.save({}, 2), 'stale_state');
      equal(await session.save({ b: [] }, 1), {
        version: 2,
      });
      includes(await session.load(), { customState: { b: [] }, version: 2 });
    });

    it('of many concurrent savers of a version one wins', async ({ store, session, another }) => {
      const other = (await another()).store;
      await session.newRun();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? store : other).documents.save(session.id, {
            customState: { n },
            version: 0,
          }),
        ),
      );
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      includes(await session.load(), { customState: { n: winner }, version: 1 });
    });

    it('saving to a session that does not exist is refused', async ({ session }) => {
      await refuses(session.save({}, 0), 'not_found');
      equal(await session.load(), null);
    });
  });

  describe('messages', () => {
    it('messages are returned page by page', async ({ store, session }) => {
      const messages = Array.from({ length: 7 }, (_, n) => userMessage(`u${String(n)}`));
      await session.begin({ messages });
      const idsOf = async (page?: { offset?: number; limit?: number }) => {
        const { messages: rows, total, hasMore } = await store.documents.messages(session.id, page);
        return [rows.map((row) => (row.role === 'user' ? row.id : '')).join(' '), total, hasMore];
      };
      equal(await idsOf(), ['u0 u1 u2 u3 u4 u5 u6', 7, false]);
      equal(await idsOf({ limit: 3 }), ['u0 u1 u2', 7, true]);
      equal(await idsOf({ offset: 3, limit: 3 }), ['u3 u4 u5', 7, true]);
      equal(await idsOf({ offset: 6, limit: 3 }), ['u6', 7, false]);
      equal(await idsOf({ offset: 4, limit: 3 }), ['u4 u5 u6', 7, false]);
      equal(await idsOf({ offset: 9 }), ['', 7, false]);
    });

    it('a page has 50 messages by default, and an unknown session has none', async (setup) => {
      const { store, session } = setup;
      equal(await store.documents.messages(session.id), { messages: [], total: 0, hasMore: false });
      const messages = Array.from({ length: 60 }, (_, n) => userMessage(`u${String(n)}`));
      await session.begin({ messages });
      const page = await store.documents.messages(session.id);
      equal([page.messages.length, page.total, page.hasMore], [50, 60, true]);
    });
  });
}

/** An operation that sets a value. */
export function set(path: string, value: unknown): { op: 'add'; path: string; value: unknown } {
  return { op: 'add', path, value };
}

/** Returns true if a change reached the prototype that all objects share. */
function isPolluted(): boolean {
  return 'polluted' in {} || 'polluted' in (Reflect.get({}, 'toString') as object);
}

/** Changes of one step, s1. */
interface Staging {
  stage: (toolCallId: string, ...patches: JSONPatchOperation[]) => Promise<void>;
  promote: () => Promise<PromotedState>;
  state: () => Promise<Record<string, unknown> | undefined>;
}

/** A session with an active run and this state. */
async function begun(setup: Case, customState: Record<string, unknown> = {}): Promise<Staging> {
  const { store, session } = setup;
  await session.newRun();
  await store.documents.save(session.id, { customState, version: 0 });
  return {
    stage: (toolCallId, ...patches) =>
      store.staging.stage(session.id, 's1', { toolCallId, patches }),
    promote: () => store.staging.promote(session.id, 's1'),
    state: async () => (await session.load())?.customState,
  };
}

function stagingCases({ describe, it }: Suite): void {
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

function concurrentChangeCases({ describe, it }: Suite): void {
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
        const { version = 0, customState = {} } = (await session.load()) ?? {};
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
      const { session } = setup;
      const { stage, promote, state } = await begun(setup);
      // After a varying number of reads the replacement falls between two commands of the
      // promotion. On a busy machine one of them may run ahead, so this is repeated.
      for (let attempt = 0; attempt < 32; attempt += 1) {
        await stage('c', set('/value', `old ${String(attempt)}`));
        const promoting = promote();
        for (let reads = attempt % 8; reads > 0; reads -= 1) await session.record();
        await stage('c', set('/value', `new ${String(attempt)}`));
        await promoting;
        await promote();
        equal(await state(), { value: `new ${String(attempt)}` });
      }
    });
  });
}

function settledChangeCases({ describe, it }: Suite): void {
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

export function stateAndChangeCases(suite: Suite): void {
  stateCases(suite);
  stagingCases(suite);
  concurrentChangeCases(suite);
  settledChangeCases(suite);
}
