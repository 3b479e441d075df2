import { createPeople, type People } from '../../../store/redis/audit-people.js';
import type { Commands } from '../../../store/redis/commands.js';
import { createKeySpace } from '../../../store/redis/keys.js';

const keys = createKeySpace();
type Turn = 'act' | 'forget';

/** Returns all orders in which the commands of two processes may arrive. */
function ordersOf(acts: number, forgets: number): Turn[][] {
  if (acts + forgets === 0) return [[]];
  const orders: Turn[][] = [];
  if (acts > 0) orders.push(...ordersOf(acts - 1, forgets).map((rest): Turn[] => ['act', ...rest]));
  if (forgets > 0) {
    orders.push(...ordersOf(acts, forgets - 1).map((rest): Turn[] => ['forget', ...rest]));
  }
  return orders;
}

/** Sets up hashes and processes whose commands wait for their turn. */
function setUp() {
  const hashes = new Map<string, Map<string, string>>();
  const at = (key: string): Map<string, string> => {
    const found = hashes.get(key) ?? new Map<string, string>();
    hashes.set(key, found);
    return found;
  };
  const waiting = new Map<Turn, () => void>();
  const processOf = (turn: Turn | undefined): People => {
    const run = async <T>(command: () => T): Promise<T> => {
      if (turn !== undefined) await new Promise<void>((go) => waiting.set(turn, go));
      return command();
    };
    const redis = {
      hget: (key: string, field: string) => run(() => at(key).get(field) ?? null),
      hset: (key: string, field: string, value: string) =>
        run(() => at(key).set(field, value).size),
      hsetnx: (key: string, field: string, value: string) =>
        run(() => (at(key).has(field) ? 0 : Number(at(key).set(field, value).has(field)))),
      hdel: (key: string, field: string) => run(() => Number(at(key).delete(field))),
      hmget: (key: string, ...fields: string[]) =>
        run(() => fields.map((field) => at(key).get(field) ?? null)),
    };
    const rest = { zadd: () => Promise.resolve(), hgetall: () => Promise.resolve({}) };
    const all = { ...rest, ...redis } as unknown as Commands;
    return createPeople({ redis: all, keys, now: Date.now }, 'acme');
  };
  /** Lets a process send one command; returns false if it sends none. */
  const step = async (turn: Turn): Promise<boolean> => {
    await new Promise(setImmediate);
    const go = waiting.get(turn);
    waiting.delete(turn);
    go?.();
    return go !== undefined;
  };
  const { people, names } = keys.audit('acme');
  return { processOf, step, sizes: () => [at(people).size, at(names).size] };
}

it('a person who acts on others while being forgotten is named by a key or a seal, in any order', async () => {
  for (const order of ordersOf(5, 4)) {
    const { processOf, step, sizes } = setUp();
    const later = processOf(undefined);
    await later.pseudonymOf('ann', false);
    const both = [
      processOf('act').pseudonymOf('ann', true),
      processOf('forget').forget('ann'),
    ] as const;
    for (const turn of order) await step(turn);
    while ((await step('act')) || (await step('forget')));
    const [pseudonym] = await Promise.all(both);
    const [known, named] = sizes();
    expect({ order, named }).toEqual({ order, named: known });
    expect((await later.sealedOf([pseudonym ?? ''])).get(pseudonym ?? '')).toBe('ann');
    if (known === 1) expect(await later.find('ann')).toBe(pseudonym);
  }
});
