import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeStores, openStores } from '../../support/test-stores.js';
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

/** Starts a Redis that lacks these commands. */
async function startWithout(...commands: string[]): Promise<string> {
  const server = await startRedisProcess((where) => {
    const file = join(where.folder, 'redis.conf');
    writeFileSync(file, commands.map((command) => `rename-command ${command} ""\n`).join(''));
    return [file, ...dataArguments(where)];
  });
  started.push(server);
  return `redis://127.0.0.1:${String(server.port)}`;
}

it('a Redis without functions serves, one without scripts is named', async () => {
  const functions = ['FUNCTION', 'FCALL', 'FCALL_RO'];
  const session = drive(await openStores(await startWithout(...functions)));
  const { runId } = await session.asked(newCall('a', 'approval'));
  expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  const url = await startWithout(...functions, 'EVAL', 'EVALSHA');
  const { store } = await openStores(url, 'api');
  await expect(store.sessions.erase('any')).rejects.toMatchObject({
    name: 'HelixError',
    code: 'unavailable',
    message: 'The conversation store is a Redis without EVALSHA.',
  });
});
