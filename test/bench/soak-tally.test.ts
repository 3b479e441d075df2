import { tally } from '../../bench/soak/page.js';
import { createVerdict, formatVerdict, isClean, KINDS } from '../../bench/soak/verdict.js';

const SENT = ['a', 'b', 'c', 'd'];

it.each([
  ['all', ['a', 'b', 'c', 'd'], false, { lost: 0, doubled: 0 }],
  ['a word that is missing', ['a', 'c', 'd'], false, { lost: 1, doubled: 0 }],
  ['a word twice', ['a', 'b', 'b', 'c', 'd'], false, { lost: 0, doubled: 1 }],
  ['another order', ['a', 'c', 'b', 'd'], false, { lost: 0, doubled: 1 }],
  ['a word that was never sent', ['a', 'b', 'x', 'c', 'd'], false, { lost: 0, doubled: 1 }],
  ['an end that is missing', ['a', 'b'], false, { lost: 2, doubled: 0 }],
  ['an end that was stopped', ['a', 'b'], true, { lost: 0, doubled: 0 }],
  ['a gap before a stop', ['a', 'c'], true, { lost: 1, doubled: 0 }],
  ['nothing before a stop', [], true, { lost: 0, doubled: 0 }],
] as const)('a soak counts %s', (_, found, isCut, expected) => {
  expect(tally(SENT, found, isCut)).toEqual(expected);
});

it('a soak takes a word that a stop has cut for what it is', () => {
  expect(tally(['w000', 'w001'], ['w000', 'w0'], true)).toEqual({ lost: 0, doubled: 0 });
  expect(tally(['w000', 'w001'], ['w000', 'w0'], false)).toEqual({ lost: 1, doubled: 1 });
});

it('the verdict of a soak is one line, and clean only if nothing was found', () => {
  const clean = { ...createVerdict(), recoveries: [2_000, 1_500.4] };
  expect(formatVerdict(clean)).toBe(
    'VERDICT lost 0 doubled 0 stuck 0 twice 0 leaked 0 recovery_p99 2000',
  );
  const played = { turns: 9, faults: 3 };
  expect(isClean(clean, played)).toBe(true);
  for (const kind of KINDS) expect(isClean({ ...clean, [kind]: 1 }, played)).toBe(false);
});

it('a verdict on nothing is not clean', () => {
  const clean = createVerdict();
  expect(isClean(clean, { turns: 0, faults: 3 })).toBe(false);
  expect(isClean(clean, { turns: 9, faults: 0 })).toBe(false);
  expect(isClean(clean, { turns: 9, faults: undefined })).toBe(true);
});
