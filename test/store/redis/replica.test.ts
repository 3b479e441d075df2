import { retryWhileUnavailable } from '../../../store/record/outage.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import {
  dataArguments,
  startRedisProcess,
  type RedisProcess,
} from '../../support/redis-process.js';
import { drive, newCall } from '../../support/session-driver.js';
import { until } from '../../support/until.js';

let master: RedisProcess;
let replica: RedisProcess;

beforeAll(async () => {
  const settings = { 'repl-diskless-sync-delay': 0 };
  master = await startRedisProcess((where) => dataArguments(where, settings));
  const replicaof = ['127.0.0.1', master.port];
  replica = await startRedisProcess((where) => dataArguments(where, { ...settings, replicaof }));
  await until('the replica follows', () =>
    master.ask(async (redis) => (await redis.info('replication')).includes('state=online')),
  );
});

afterAll(async () => {
  await closeStores();
  await Promise.all([replica.close(), master.close()]);
});

const urlOf = ({ port }: RedisProcess): string => `redis://127.0.0.1:${String(port)}`;

/** Opens a waiting session and lets the replica catch up. */
async function openSession() {
  const session = drive(await openStores(urlOf(master)));
  const { runId } = await session.asked(newCall('a', 'approval'));
  await until('the replica has it', () =>
    replica.ask(
      async (redis) =>
        (await redis.hget(`hx:{${session.id}}:root`, 'live'))?.endsWith(' 1') === true,
    ),
  );
  return { session, runId };
}

describe('a read-only replica', () => {
  it('reads work, writes are refused', async () => {
    const { session, runId } = await openSession();
    const api = await openStores(urlOf(replica), 'api');
    const view = await read(() => api.store.sessions.view(session.id));
    expect(view?.openCalls).toHaveLength(1);
    const readLog = () => read(() => api.streamManager.getAllChunks(session.id));
    expect(await readLog()).not.toHaveLength(0);
    const there = drive(api, session.id);
    for (const write of [
      () => there.decide(runId, 'a', true),
      () => there.stop(),
      () => drive(api).newRun(),
      () => api.store.due.note(session.id, 0),
    ]) {
      await expect(write()).rejects.toMatchObject({ name: 'HelixError', code: 'unavailable' });
    }
    // Refused writes do not affect reads.
    expect(await readLog()).not.toHaveLength(0);
    expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  });

  it('a replica that becomes a master accepts the writes that waited', async () => {
    const { session, runId } = await openSession();
    const worker = await openStores(urlOf(replica));
    const decided = drive(worker, session.id).decide(runId, 'a', true);
    await expect(Promise.race([decided, refusals(3)])).resolves.toBe('refused');
    await replica.ask((redis) => redis.replicaof('NO', 'ONE'));
    expect(await decided).toMatchObject({ kind: 'stored' });
    await replica.ask((redis) => redis.replicaof('127.0.0.1', master.port));
  });
});

/** After a refusal the API looks once for another master, which delays reads of that moment. */
function read<T>(work: () => Promise<T>): Promise<T> {
  return retryWhileUnavailable(work, new AbortController().signal, 60_000);
}

/** Resolves when the replica has refused this many writes. */
function refusals(count: number): Promise<string> {
  return replica.ask(async (redis) => {
    const refused = async (): Promise<number> => {
      const stats = await redis.info('errorstats');
      return Number(/^errorstat_READONLY:count=(\d+)/m.exec(stats)?.[1] ?? 0);
    };
    const before = await refused();
    while ((await refused()) < before + count);
    return 'refused';
  });
}
