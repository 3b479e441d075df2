import { toStoredSessionId } from '../../../store/record/stored-session-id.js';

it('stored ids of tenants differ, and a command line takes none of them for an option', () => {
  const tenants = Array.from({ length: 1_000 }, (_, n) => `tenant-${String(n)}`);
  const ids = tenants.map((tenant) => toStoredSessionId('s', tenant));
  expect(new Set(ids).size).toBe(tenants.length);
  expect(ids.filter((id) => !/^\w[\w-]{15}~s$/.test(id))).toEqual([]);
});
