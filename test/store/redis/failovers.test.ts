import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { followFailovers } from '../../../store/redis/failovers.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const CHANNEL = '+switch-master';
const { hostname: host, port } = new URL(sharedRedisUrl());
const HERE = `${host} ${port}`;

/** Follows what several Sentinels announce: a server that publishes as they do stands in for them. */
async function follow() {
  const name = randomUUID();
  const client = new Redis(sharedRedisUrl(), { lazyConnect: true, retryStrategy: () => 500 });
  const speaker = new Redis(sharedRedisUrl());
  atEndOfFile(async () => {
    client.disconnect();
    speaker.disconnect();
  });
  const listening = async () => Number((await speaker.pubsub('NUMSUB', CHANNEL))[1]);
  const before = await listening();
  client.options.sentinels = [1, 2, 3].map(() => ({ host, port: Number(port) }));
  client.options.name = name;
  followFailovers(client);
  let connections = 0;
  client.on('ready', () => (connections += 1));
  await client.connect();
  await until('all are heard', async () => (await listening()) === before + 3);
  return {
    client,
    connections: () => connections,
    announce: (to: string, of: string = name) =>
      speaker.publish(CHANNEL, `${of} 127.0.0.1 1 ${to}`),
    heard: async () => (await listening()) - before,
  };
}

it('a client goes to the server that Sentinels name, and stays where it is that one', async () => {
  const { client, connections, announce, heard } = await follow();
  await announce(HERE);
  await announce('127.0.0.1 2', 'another');
  await client.ping();
  expect(connections()).toBe(1);
  const leave = async () => {
    await announce('127.0.0.1 2');
    await until('it is on its way', () => client.status === 'reconnecting');
  };
  await leave();
  // Others announce meanwhile: what the last one says counts.
  await announce('127.0.0.1 3');
  await announce(HERE);
  await until('it is there', () => client.status === 'ready');
  await client.ping();
  expect(connections()).toBe(2);
  await leave();
  await announce('127.0.0.1 3');
  await until('it asks again', () => connections() === 4);
  client.disconnect();
  await until('none listens', async () => (await heard()) === 0);
});
