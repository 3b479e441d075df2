import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createAtomic } from '../../../store/redis/atomic.js';
import { createEvaluate } from '../../../store/redis/send.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import {
  dataArguments,
  startRedisProcess,
  type RedisProcess,
} from '../../support/redis-process.js';
import { drive, newCall } from '../../support/session-driver.js';
import { until } from '../../support/until.js';

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

it('one without sharded channels, as before Redis 7, publishes to the whole server', async () => {
  const url = await startWithout('SPUBLISH');
  const [redis, listener] = [new Redis(url), new Redis(url)];
  const heard: string[] = [];
  listener.on('message', (channel: string, message: string) => heard.push(`${channel} ${message}`));
  await listener.subscribe('{s}:stop', '{s}:channel');
  const { append, writeIf } = createAtomic(createEvaluate(redis));
  expect(await writeIf([], [['SPUBLISH', '{s}:stop', 'a run']])).toBe(true);
  await redis.hset('{s}:writers', 't:w:x', 'token', 'b:w:x', '0 0');
  const keys = ['own', 'writers', 'record', 'log', 'channel'].map((name) => `{s}:${name}`);
  const args = ['*', 'w:x', 'token', '1', '0', '0', '', '"hello"'];
  expect(await append(keys, args)).toEqual([1, 1, 0]);
  await until('both are heard', () => heard.length === 2);
  expect(heard).toEqual(['{s}:stop a run', '{s}:channel [0,[[1,"w:x","hello"]]]']);
  for (const client of [redis, listener]) client.disconnect();
});
