import { createKeyspace } from '../../../store/memory/keyspace.js';
import { createLocalAtomic, createLocalCommands } from '../../../store/memory/local-redis.js';
import { ALL, createCharge, type Charged, type Figures } from '../../../store/redis/charge.js';
import type { RedisContext } from '../../../store/redis/context.js';
import { createKeySpace } from '../../../store/redis/keys.js';

const NOW = Date.UTC(2026, 10, 30);
const ANN = { owner: 'ann', tenant: 'acme' };
const FIGURES: Figures = {
  created: 1,
  version: 5,
  bytes: 100,
  queued: 0,
  runs: 1,
  updated: 10,
  spent: '',
};

const charged = (figures: Partial<Figures>): Charged => ({
  owner: ANN,
  agent: 'a',
  model: 'm',
  status: 'running',
  figures: { ...FIGURES, ...figures },
});

/** Opens the charges of two processes. */
function open() {
  const keyspace = createKeyspace({ now: () => NOW });
  const keys = createKeySpace();
  const { writeIf } = createLocalAtomic(keyspace);
  const redis = createLocalCommands(keyspace);
  const context = { redis, keys, writeIf, now: () => NOW } as RedisContext;
  const [one, other] = [createCharge(context), createCharge(context)];
  const at = keys.owner(ANN);
  return {
    at,
    call: keyspace.call,
    other: (id: string, of?: Charged) => other(id, ANN, of),
    one: (id: string, figures?: Partial<Figures>, options = {}) =>
      one(id, ANN, figures && charged(figures), options),
    /** Returns what the user and the tenant are charged. */
    sums: (what: string) => [at.usage, at.tenant].map((key) => keyspace.call('HGET', key, what)),
  };
}

describe('the charge for a conversation', () => {
  it('is the latest, whichever comes last, and is gone without a trace', async () => {
    const { one, sums, call } = open();
    expect(await one('s', {}, { title: 'hello' })).toBe('added');
    expect(await one('s', { version: 6, bytes: 300 })).toBe('charged');
    expect(await one('s', { version: 5 })).toBe('stale');
    expect(await one('s', { version: 6, bytes: 300 })).toBe('charged');
    expect(sums('bytes')).toEqual(['300', '300']);
    // A conversation that was made anew under the id begins with a low version.
    expect(await one('s', { created: 2, version: 1, bytes: 50 })).toBe('charged');
    expect(await one('s', { version: 9 })).toBe('stale');
    expect(sums('bytes')).toEqual(['50', '50']);
    expect(await one('s', { bytes: 20 }, { anyway: true })).toBe('charged');
    expect(sums('bytes')).toEqual(['20', '20']);
    expect(await one('s')).toBe('removed');
    expect(await one('s')).toBe('unknown');
    expect(call('DBSIZE')).toBe(0);
  });

  it('is listed once it has a message, and as at work while it is', async () => {
    const { one, at, call } = open();
    const listed = () => [at.sessions, at.work].map((key) => call('ZCARD', key));
    expect(await one('s', { created: 0, version: 1, runs: 0 })).toBe('added');
    expect(listed()).toEqual([0, 0]);
    expect(await one('s', { created: 1 })).toBe('added');
    expect(listed()).toEqual([1, 1]);
    await one('s', { version: 6, runs: 0 });
    expect(listed()).toEqual([1, 0]);
  });

  it('counts once although two processes charge at once', async () => {
    const { one, other, sums, call } = open();
    const later = charged({ version: 7, bytes: 500 });
    await Promise.all([one('s', { version: 6, bytes: 300 }), other('s', later)]);
    expect([...sums('bytes'), ...sums('sessions')]).toEqual(['500', '500', '1', '1']);
    await one('t', {});
    await Promise.all([one('s'), other('t')]);
    expect(call('DBSIZE')).toBe(0);
  });

  it('adds what its runs have used to the sums of the day, which do not last for ever', async () => {
    const { one, other, at, call } = open();
    const by = JSON.stringify(['a', 'm']);
    const used = () => call('HGET', `${at.used}20261130`, by);
    const cost = (period: string) =>
      [at.user, ALL].map((of) => call('HGET', at.spend + period, of));
    await Promise.all([
      one('s', { spent: '10 2 0 0 0 7 1' }),
      other('t', charged({ spent: '1 1 0 0 0 1 1' })),
    ]);
    expect(used()).toBe('11 3 0 0 0 8 2');
    await one('s', { version: 6, spent: '15 2 0 0 0 9 2' });
    // A store that was restored from a backup takes nothing back.
    await one('s', { version: 7, spent: '10 2 0 0 0 7 1' });
    expect(used()).toBe('16 3 0 0 0 10 3');
    expect([cost('20261130'), cost('202611')]).toEqual(Array(2).fill(['10', '10']));
    const kept = [`${at.used}20261130`, `${at.users}20261130`, `${at.spend}202611`];
    for (const key of [...kept, `${at.spend}20261130`])
      expect(call('PTTL', key)).toBeGreaterThan(0);
  });
});
