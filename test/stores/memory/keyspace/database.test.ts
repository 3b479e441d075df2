import { Database } from '../../../../stores/memory/keyspace/database.js';

it('keys that are never read again do not stay in memory', () => {
  let now = 0;
  const db = new Database({ now: () => now });
  for (; now < 1_000; now += 1) {
    const key = String(now);
    db.put(key, 'string', 'x');
    db.setExpiry(key, now + 10);
  }
  // Private: each way to ask for keys drops what has expired.
  expect(db['values'].size).toBeLessThan(50);
});
