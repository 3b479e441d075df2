import { z } from 'zod';
import type { ToolContext } from '../../agents/index.js';
import { StaleStateError } from '../../protocol/errors.js';
import { createHarness, openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { snapshotOf } from '../support/snapshot-of.js';

const Memory = z.object({
  memory: z.record(z.string(), z.unknown()).default({}),
  list: z.array(z.string()).default([]),
});
type Memory = z.infer<typeof Memory>;
type Execute = (id: string, context: ToolContext) => unknown;

/** A run whose first step has asked for calls `a` and `b` of the tool. */
async function openCalls(execute: Execute, extra: object = {}) {
  const tool = fakeTool('tool', (_, context) => execute(context.toolCallId, context), extra);
  const script = sayInTurn(
    parts.asks(parts.call('a', 'tool', {}), parts.call('b', 'tool', {})),
    parts.says('done'),
  );
  const harness = await openHarness(script, {
    tools: [tool],
    more: {
      stateSchema: Memory,
      systemPrompt: (state) => `Memory: ${JSON.stringify(state)}`,
    },
  });
  const run = await harness.begin();
  await harness.step(run, 1);
  const { session, stores } = harness;
  const state = async (): Promise<unknown> =>
    (await stores.store.documents.readState(session.id)).customState;
  const promoted = async (): Promise<unknown> =>
    (await stores.store.documents.load(session.id))?.customState;
  return { ...harness, run, state, promoted };
}

const remember =
  (value = 'x'): Execute =>
  (id, { updateState }) => {
    updateState<Memory>(({ memory }) => {
      memory[id] = value;
    });
  };

describe('the state that tools change', () => {
  it('the state is the schema’s before any call, and patches are streamed while the tool runs', async () => {
    let finish: (() => void) | undefined;
    const seen: unknown[] = [];
    const { run, tool, session, state } = await openCalls(async (id, { getState, updateState }) => {
      seen.push(getState());
      updateState<Memory>(({ memory }) => {
        memory[id] = [];
      });
      seen.push(getState());
      await new Promise<void>((resolve) => (finish = resolve));
    });
    expect(await state()).toEqual({ memory: {}, list: [] });
    const running = tool(run, 1, 'a');
    await until(
      'the patch is stored',
      async () => (await session.messages('state_patch')).length > 1,
    );
    expect(await state()).toEqual({ memory: {}, list: [] });
    finish?.();
    await running;
    expect(seen).toEqual([
      { memory: {}, list: [] },
      { memory: { a: [] }, list: [] },
    ]);
    expect(await session.messages('state_patch')).toMatchObject([
      { patches: [{ path: '/memory' }, { path: '/list' }] },
      { patches: [{ op: 'add', path: '/memory/a', value: [] }] },
    ]);
    expect(await state()).toEqual({ memory: { a: [] }, list: [] });
  });

  it('the state has the changes of parallel calls, once, when the next step begins', async () => {
    const release: (() => void)[] = [];
    const { run, tool, step, promoted, state, model } = await openCalls(
      async (id, { updateState }) => {
        updateState<Memory>(({ memory, list }) => {
          memory[id] = id;
          memory['both'] = id;
          list.push(id);
        });
        await new Promise<void>((resolve) => release.push(resolve));
      },
    );
    const a = tool(run, 1, 'a');
    await until('a runs', () => release.length === 1);
    const b = tool(run, 1, 'b');
    await until('both run', () => release.length === 2);
    release[1]?.();
    await b;
    release[0]?.();
    await a;
    // The one that settled last has the last word.
    const expected = { memory: { a: 'a', b: 'b', both: 'a' }, list: ['a', 'b'] };
    expect(await promoted()).toEqual({ memory: {}, list: [] });
    expect(await state()).toEqual(expected);
    await step(run, 2);
    expect(await promoted()).toEqual(expected);
    const system = model.doStreamCalls[1]?.prompt[0]?.content as string;
    expect(JSON.parse(system.slice('Memory: '.length))).toEqual(expected);
  });

  it('a call whose outcome is unknown leaves the state, and its patches are reverted', async () => {
    let runs = 0;
    const { run, tool, session, state } = await openCalls(async (id, context) => {
      remember()(id, context);
      runs += 1;
      if (id === 'a') await new Promise(() => undefined);
    });
    void tool(run, 1, 'a', 1).catch(() => undefined);
    await until(
      'it runs',
      async () => runs === 1 && (await session.messages('state_patch')).length > 1,
    );
    await tool(run, 1, 'b', 1);
    expect(await tool(run, 1, 'a', 2)).toBe('settled');
    expect(await state()).toEqual({ memory: { b: 'x' }, list: [] });
    expect((await session.messages('state_patch')).map(({ patches }) => patches).slice(1)).toEqual([
      [{ op: 'add', path: '/memory/a', value: 'x' }],
      [{ op: 'add', path: '/memory/b', value: 'x' }],
      [{ op: 'remove', path: '/memory/a' }],
    ]);
  });

  it('an idempotent call that is executed again changes the state once', async () => {
    let runs = 0;
    const { run, tool, session, state } = await openCalls(
      async (_, { updateState, attempt, idempotencyKey }) => {
        updateState<Memory>(({ list }) => {
          list.push(`${String(attempt)} ${idempotencyKey}`);
        });
        runs += 1;
        if (attempt === 1) await new Promise(() => undefined);
      },
      { idempotent: true },
    );
    void tool(run, 1, 'a', 1).catch(() => undefined);
    await until(
      'it runs',
      async () => runs === 1 && (await session.messages('state_patch')).length > 1,
    );
    expect(await tool(run, 1, 'a', 2)).toBe('settled');
    expect(await state()).toEqual({ memory: {}, list: [`2 ${run.runId}/a`] });
    expect(await session.messages('state_patch')).toHaveLength(2);
    expect(await session.messages('stream_resync')).toMatchObject([{ toolCallId: 'a' }]);
  });

  it('the state is unchanged when a change does not fit, and the model gets an error', async () => {
    const { run, tool, state, stores, session } = await openCalls((_, { updateState }) => {
      updateState<{ memory: unknown }>((draft) => (draft.memory = 1));
    });
    await tool(run, 1, 'a');
    expect((await stores.store.calls.read(session.id, 'a'))?.row).toMatchObject({
      errorCode: 'state_invalid',
      error: expect.stringContaining('memory'),
    });
    expect(await state()).toEqual({ memory: {}, list: [] });
  });

  it('the state has the changes of the call that ends the run', async () => {
    const last = fakeTool('last', (_, context) => remember()('a', context), { finishWith: true });
    const { play, begin, stores, session } = await openHarness(
      sayInTurn(parts.asks(parts.call('a', 'last', {}))),
      { tools: [last], more: { stateSchema: Memory, activities: 'leg' } },
    );
    await play(await begin());
    const stored = await stores.store.documents.load(session.id);
    expect(stored?.customState).toMatchObject({ memory: { a: 'x' } });
  });

  it('the snapshot has the state at the sequence from which the page follows', async () => {
    const { run, tool, stores, session, step } = await openCalls(remember());
    const snapshot = async (): Promise<unknown> => (await snapshotOf(stores, session.id))?.state;
    await tool(run, 1, 'a');
    // The turn is replayed, with its patches.
    expect(await snapshot()).toEqual({ memory: {}, list: [] });
    await tool(run, 1, 'b');
    await step(run, 2);
    expect(await snapshot()).toEqual({ memory: { a: 'x', b: 'x' }, list: [] });
  });
});

it('the defaults of a schema are added again when another writer saves the state meanwhile', async () => {
  const stores = await openTestStores();
  const { documents } = stores.store;
  let saves = 0;
  const save: typeof documents.save = (...document) => {
    saves += 1;
    return saves === 1 ? Promise.reject(new StaleStateError('s', 1)) : documents.save(...document);
  };
  const store = { ...stores.store, documents: { ...documents, save } };
  const model = fakeModel(() => parts.says('done'));
  const harness = createHarness({ ...stores, store }, { model, more: { stateSchema: Memory } });
  expect(await harness.step(await harness.begin(), 1)).toMatchObject({ status: 'completed' });
  expect(saves).toBe(2);
});

it('a tool may leave events and chunks unawaited that are refused, also after its end', async () => {
  const faults: unknown[] = [];
  const fault = (error: unknown): void => void faults.push(error);
  process.on('unhandledRejection', fault);
  let late: ToolContext | undefined;
  const { tool, run } = await openCalls((_, context) => {
    void context.emit('progress', { done: 1n });
    late = context;
  });
  await tool(run, 1, 'a');
  void late?.emit('progress', {});
  void late?.forward([]);
  await new Promise(setImmediate);
  process.off('unhandledRejection', fault);
  expect([late?.toolCallId, faults]).toEqual(['a', []]);
  await expect(late?.emit('progress', {})).rejects.toThrow('the call is over');
});
