import { hasSecond, isOnOthers } from '../../../store/record/audit-entry.js';
import { toKeptMs } from '../../../store/record/audit-ttl.js';

it('a setting that is no length of time keeps the audit trail, by tenant too', () => {
  expect(toKeptMs(60)('acme')).toBe(60_000);
  const seen: (string | undefined)[] = [];
  const keptMs = toKeptMs((tenant) => {
    seen.push(tenant);
    return 2;
  });
  expect([keptMs(''), keptMs('acme')]).toEqual([2_000, 2_000]);
  expect(seen).toEqual([undefined, 'acme']);
  for (const wrong of [0, -1, NaN, Infinity, undefined as unknown as number]) {
    expect(toKeptMs(wrong)('acme')).toBe(0);
    expect(toKeptMs(() => wrong)('acme')).toBe(0);
  }
});

it('what a person did to the own data is no act on others', () => {
  expect(isOnOthers({ by: 'ann', owner: 'ann' })).toBe(false);
  expect(isOnOthers({ by: 'col', owner: 'ann' })).toBe(true);
  // Of the installation, or of a whole tenant.
  expect(isOnOthers({ by: 'ann', owner: undefined })).toBe(true);
  expect(isOnOthers({ by: undefined, owner: 'ann' })).toBe(false);
});

it.each<[string, object, object, boolean]>([
  ['another operator', { by: 'olga' }, { by: 'otto' }, true],
  ['the same one again', { by: 'olga' }, { by: 'olga' }, false],
  ['the same one as a guest of this tenant', { by: 'olga' }, { by: 'other-tenant:hq|olga' }, false],
  [
    'another account of the same person',
    { by: 'a1', personId: 'p' },
    { by: 'a2', personId: 'p' },
    false,
  ],
  [
    'another person of that name',
    { by: 'olga', personId: 'p' },
    { by: 'other-tenant:hq|olga', personId: 'q' },
    true,
  ],
  ['one who asked for another person', { by: 'olga', subject: 'bob' }, { by: 'otto' }, false],
  ['one who asked for another act', { by: 'olga', action: 'open' }, { by: 'otto' }, false],
])('%s: is it a second person?', (_who, first, second, isSecond) => {
  const request = { action: 'forget', subject: 'ann', by: '', until: 1 } as const;
  expect(hasSecond([{ ...request, ...first }], { ...request, ...second }, 'acme')).toBe(isSecond);
});
