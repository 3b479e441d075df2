import { createKeyspace } from '../../../stores/memory/keyspace.js';
import { createLocalCommands } from '../../../stores/memory/local-commands.js';
import { createBatchRecords } from '../../../stores/redis/batches.js';
import { createKeySpace } from '../../../stores/redis/keys.js';
import { createWriteIf } from '../../../store/redis/write-if.js';
import { evaluateOn } from '../../../stores/memory/local-scripts.js';
import { dyingAfter } from '../../support/dying-commands.js';

const keys = createKeySpace();
const OLGA = { owner: 'olga' };
const WORK = { actor: { userId: 'olga', via: 'api' as const }, items: [], refused: 0 };
const DAY = 24 * 3_600_000;

it.each([0, 1, 2])(
  'nothing that a process stored before it died is kept without end (%i)',
  async (count) => {
    const keyspace = createKeyspace({ now: Date.now, publish: () => undefined });
    const redis = createLocalCommands(keyspace);
    const { writeIf } = dyingAfter(count, { writeIf: createWriteIf(evaluateOn(keyspace)) });
    const context = { redis, writeIf, keys, now: Date.now };
    await createBatchRecords(context)
      .save('b-1', WORK)
      .catch(() => undefined);
    for (const key of [keys.batch('b-1'), keys.batchesOf(OLGA)]) {
      // -2: the key does not exist.
      expect([-2, 7 * DAY, 14 * DAY]).toContainEqual(roundedTo(DAY, await redis.pttl(key)));
    }
  },
);

it("a person's list forgets batches whose records have expired", async () => {
  let at = Date.now();
  const now = (): number => at;
  const keyspace = createKeyspace({ now, publish: () => undefined });
  const writeIf = createWriteIf(evaluateOn(keyspace));
  const records = createBatchRecords({ redis: createLocalCommands(keyspace), writeIf, keys, now });
  await records.save('b-1', WORK);
  at += 8 * DAY;
  await records.save('b-2', WORK);
  at += 7 * DAY;
  await records.save('b-3', WORK);
  expect(await records.of(OLGA)).toEqual(['b-2', 'b-3']);
});

function roundedTo(unit: number, ms: number): number {
  return ms < 0 ? ms : Math.round(ms / unit) * unit;
}
