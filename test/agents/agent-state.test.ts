import { applyPatch, type Operation } from 'rfc6902';
import { z } from 'zod';
import { createAgentState, StateError } from '../../agents/index.js';

const Notes = z.object({
  list: z.array(z.string()).default([]),
  memory: z.record(z.string(), z.unknown()).default({}),
  count: z.number().max(3).default(0),
});
type Notes = z.infer<typeof Notes>;

const update = (state: ReturnType<typeof createAgentState>, change: (draft: Notes) => unknown) =>
  state.update(change);

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(StateError);
    return (error as StateError).code;
  }
  return 'none';
};

describe('the state of an agent', () => {
  it('the state is the stored value as the schema parses it, deeply frozen', () => {
    const state = createAgentState(Notes, { memory: { a: { b: 1 } } });
    const value = state.get() as Notes;
    expect(value).toEqual({ list: [], memory: { a: { b: 1 } }, count: 0 });
    expect(Object.isFrozen(value.memory['a'])).toBe(true);
    expect(codeOf(() => createAgentState(Notes, { count: 'x' }))).toBe('state_invalid');
  });

  it('a change of the state has patches that apply it, and others that revert it', () => {
    const state = createAgentState(Notes, {
      list: ['a', 'b', 'c'],
      memory: { 'x/y~z': 1, old: 1 },
    });
    const before = structuredClone(state.get());
    const change = update(state, (draft) => {
      draft.list.splice(1, 1);
      draft.list.push('d');
      draft.memory['x/y~z'] = { deep: [] };
      delete draft.memory['old'];
    });
    const after = state.get();
    expect(after).toEqual({ list: ['a', 'c', 'd'], memory: { 'x/y~z': { deep: [] } }, count: 0 });
    const copy = structuredClone(before);
    expect(applyPatch(copy, change?.patches as Operation[]).every((e) => e === null)).toBe(true);
    expect(copy).toEqual(after);
    expect(applyPatch(copy, change?.undo as Operation[]).every((e) => e === null)).toBe(true);
    expect(copy).toEqual(before);
    expect(state.patches()).toEqual(change?.patches);
  });

  it('the state accepts no change that its schema refuses, and none by an async function', () => {
    const state = createAgentState(Notes, {});
    expect(codeOf(() => update(state, (draft) => (draft.count = 4)))).toBe('state_invalid');
    expect(codeOf(() => update(state, async (draft) => (draft.count = 1)))).toBe('state_invalid');
    // The promise of an async function may reject later, so the update must catch its error.
    const catches = jest.fn();
    const later = Object.assign(Promise.resolve(), { catch: catches });
    expect(codeOf(() => update(state, () => later))).toBe('state_invalid');
    expect(catches).toHaveBeenCalled();
    expect(
      codeOf(() => update(state, (draft) => (draft.memory['big'] = 'x'.repeat(1024 * 1024)))),
    ).toBe('state_too_large');
    expect([state.get(), state.patches()]).toEqual([Notes.parse({}), []]);
    expect(update(state, () => undefined)).toBeUndefined();
  });

  it('the state keeps a change as the schema and JSON store it', () => {
    const state = createAgentState(Notes, { memory: { gone: 1 } });
    const change = update(state, (draft) => {
      Object.assign(draft, { unknown: 1 });
      draft.memory['gone'] = undefined;
      draft.memory['at'] = new Date(0);
    });
    expect(state.get()).toEqual({ list: [], count: 0, memory: { at: '1970-01-01T00:00:00.000Z' } });
    expect(JSON.stringify(change?.patches)).not.toContain('unknown');
  });
});
