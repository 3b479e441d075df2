import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAct } from '../../../stores/record/acts.js';
import { createRedisStores } from '../../../stores/redis/index.js';
import { closeStores, openStores } from '../../support/open-stores.js';
import {
  dataArguments,
  startRedisProcess,
  type RedisProcess,
} from '../../support/redis-process.js';
import { drive, newCall } from '../../support/session-driver.js';

const started: RedisProcess[] = [];

afterEach(async () => {
  await closeStores();
  await Promise.all(started.splice(0).map((server) => server.close()));
});

/** A Redis that does not know these commands. */
async function startWithout(...commands: string[]): Promise<string> {
  const server = await startRedisProcess((where) => {
    const file = join(where.folder, 'redis.conf');
    writeFileSync(file, commands.map((command) => `rename-command ${command} ""\n`).join(''));
    return [file, ...dataArguments(where)];
  });
  started.push(server);
  return `redis://127.0.0.1:${String(server.port)}`;
}

describe('a Redis without functions', () => {
  it.each([
    ['any of their commands', ['FUNCTION', 'FCALL', 'FCALL_RO']],
    ['FUNCTION', ['FUNCTION']],
    ['FCALL', ['FCALL', 'FCALL_RO']],
    ['FCALL_RO', ['FCALL_RO']],
  ])('a Redis without %s is served by scripts', async (_, commands) => {
    const stores = await openStores(await startWithout(...commands));
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    await session.decide(runId, 'a', true);
    expect((await stores.store.sessions.view(session.id))?.openCalls).toHaveLength(1);
    expect(await session.stop()).toMatchObject({ kind: 'ended' });
    expect(await session.log()).not.toHaveLength(0);
  });

  it('drops old entries of the audit trail by a script', async () => {
    const url = await startWithout('FCALL');
    const stores = createRedisStores({ url, auditTtlSeconds: () => 60 });
    try {
      const { audit } = stores.store;
      await audit.record({ ...toAct('read', {}, { tenant: 'acme' }), at: 1 }, {});
      expect(await audit.verify('acme')).toMatchObject({ ok: true, first: 2, entries: 0 });
    } finally {
      await stores.close();
    }
  });

  it('nor scripts says so', async () => {
    const url = await startWithout('FUNCTION', 'FCALL', 'FCALL_RO', 'EVAL', 'EVALSHA');
    const { store } = await openStores(url, 'api');
    await expect(store.sessions.erase('any')).rejects.toMatchObject({
      name: 'HelixError',
      code: 'unavailable',
      message: 'The conversation store is a Redis without EVALSHA.',
    });
  });
});
