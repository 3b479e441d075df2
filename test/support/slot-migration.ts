import type { RedisProcess } from './redis-process.js';

/** Moves one slot of a cluster to another node, as `redis-cli --cluster reshard` does. */
export async function migrateSlot(
  slot: number,
  { from, to, others }: { from: RedisProcess; to: RedisProcess; others: RedisProcess[] },
): Promise<void> {
  const [fromId, toId] = await Promise.all(
    [from, to].map(({ ask }) => ask((redis) => redis.call('CLUSTER', 'MYID'))),
  );
  await to.ask((redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId)));
  await from.ask(async (redis) => {
    await redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
    for (;;) {
      const keys = (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length === 0) break;
      await redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
  });
  for (const { ask } of [to, from, ...others]) {
    await ask((redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId)));
  }
}
