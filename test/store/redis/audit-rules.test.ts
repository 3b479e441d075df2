import { isOnOthers } from '../../../store/redis/audit.js';
import { toKeptMs } from '../../../store/redis/context.js';

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
  // An entry without an owner concerns the installation or a whole tenant.
  expect(isOnOthers({ by: 'ann', owner: undefined })).toBe(true);
  expect(isOnOthers({ by: undefined, owner: 'ann' })).toBe(false);
});
