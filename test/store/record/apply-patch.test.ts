import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import type { JSONPatchOperation } from '../../../protocol/chunk.js';
import { applyPatch, fitChanges, type PatchFault } from '../../../store/record/apply-changes.js';

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'a', '', '/', '~', '~1', '0'];

const Value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, 1.5, 'text', ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a patch', () => {
  it('a patch leads from any value to any other, under whatever names', () => {
    fc.assert(
      fc.property(Value, Value, (before, after) => {
        const document = { value: copy(before) };
        const patch = createPatch(copy(before), copy(after)) as JSONPatchOperation[];
        expect(applyPatch(document, patch)).toBeUndefined();
        expect(JSON.parse(JSON.stringify(document.value))).toEqual(copy(after));
      }),
    );
  });

  it.each<[JSONPatchOperation, unknown]>([
    [
      { op: 'add', path: '/list/-', value: 4 },
      { list: [1, 2, 4], o: { a: 1 } },
    ],
    [
      { op: 'add', path: '/list/0', value: 4 },
      { list: [4, 1, 2], o: { a: 1 } },
    ],
    [
      { op: 'add', path: '/list/2', value: 4 },
      { list: [1, 2, 4], o: { a: 1 } },
    ],
    [
      { op: 'replace', path: '/list/1', value: [] },
      { list: [1, []], o: { a: 1 } },
    ],
    [{ op: 'replace', path: '', value: [1] }, [1]],
    [{ op: 'move', from: '/list', path: '/o/list' }, { o: { a: 1, list: [1, 2] } }],
    [
      { op: 'move', from: '/o', path: '/o' },
      { list: [1, 2], o: { a: 1 } },
    ],
    [
      { op: 'copy', from: '/o', path: '/o/o' },
      { list: [1, 2], o: { a: 1, o: { a: 1 } } },
    ],
    [
      { op: 'test', path: '/o', value: { a: 1 } },
      { list: [1, 2], o: { a: 1 } },
    ],
    [
      { op: 'remove', path: '/list/0' },
      { list: [2], o: { a: 1 } },
    ],
  ])('of %j does what RFC 6902 says', (operation, expected) => {
    const document = { value: copy({ list: [1, 2], o: { a: 1 } }) };
    expect(applyPatch(document, [operation])).toBeUndefined();
    expect(document.value).toEqual(expected);
  });

  it.each<[JSONPatchOperation, PatchFault]>([
    [{ op: 'add', path: 'a', value: 1 }, 'malformed'],
    [{ op: 'add', path: '/a' }, 'malformed'],
    [{ op: 'add', path: '/nothing/a', value: 1 }, 'missing'],
    [{ op: 'add', path: '/list/3', value: 1 }, 'missing'],
    [{ op: 'add', path: '/list/01', value: 1 }, 'missing'],
    [{ op: 'add', path: '/list/length', value: 1 }, 'missing'],
    [{ op: 'replace', path: '/list/-', value: 1 }, 'missing'],
    [{ op: 'replace', path: '/list/length', value: 1 }, 'missing'],
    [{ op: 'replace', path: '/toString', value: 1 }, 'missing'],
    [{ op: 'add', path: '/toString/polluted', value: 1 }, 'missing'],
    [{ op: 'add', path: '/__proto__/polluted', value: 1 }, 'missing'],
    [{ op: 'remove', path: '' }, 'missing'],
    [{ op: 'remove', path: '/o/b' }, 'missing'],
    [{ op: 'move', path: '/a' }, 'malformed'],
    [{ op: 'move', from: '/o', path: '/o/a/b' }, 'malformed'],
    [{ op: 'copy', from: '/constructor', path: '/a' }, 'missing'],
    [{ op: 'test', path: '/list', value: [1] }, 'unequal'],
    [{ op: 'test', path: '/o', value: { b: 1 } }, 'unequal'],
  ])('of %j is refused, and changes nothing', (operation, fault) => {
    const document = { value: copy({ list: [1, 2], o: { a: 1 } }) };
    expect(applyPatch(document, [operation])).toBe(fault);
    expect(document.value).toEqual({ list: [1, 2], o: { a: 1 } });
    const shared = [{}, Reflect.get({}, 'toString') as object];
    expect(shared.some((object) => 'polluted' in object)).toBe(false);
  });

  it('a patch does not share its value with the caller', () => {
    const value = { list: [] as number[] };
    const document = { value: {} };
    applyPatch(document, [
      { op: 'add', path: '/a', value },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/list/-', value },
      { op: 'add', path: '/b/list/0/list/-', value: 1 },
    ]);
    const b = { list: [{ list: [1] }] };
    expect([value, document.value]).toEqual([{ list: [] }, { a: { list: [] }, b }]);
  });
});

describe('changes that are made to fit', () => {
  it('adapted changes merge keys once', () => {
    const change = {
      toolCallId: 'c',
      timestamp: 1,
      mergeChanges: { m: {} },
      patches: [
        { op: 'add' as const, path: '/m/a', value: 1 },
        { op: 'add' as const, path: '/m/b', value: 2 },
        { op: 'add' as const, path: '/gone/c', value: 3 },
      ],
    };
    expect(fitChanges({}, [change])).toEqual({ m: { a: 1, b: 2 }, gone: { c: 3 } });
  });

  it('adapted changes never make a state that is too deep to be stored', () => {
    const deep: unknown = JSON.parse('['.repeat(400) + ']'.repeat(400));
    const path = '/a'.repeat(101);
    const patches: JSONPatchOperation[] = [
      { op: 'add', path: '/b', value: deep },
      { op: 'copy', from: '/b', path: `/b${'/0'.repeat(399)}/-` },
      { op: 'add', path, value: deep },
    ];
    const change = { toolCallId: 'c', timestamp: 1, patches };
    expect(fitChanges({}, [change])).toEqual({ b: deep });
  });
});
