import { EventEmitter } from 'node:events';
import type { LogEntry } from '../../../protocol/chunk.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { createChannels } from '../../../store/redis/tail/channels.js';
import { createTail } from '../../../store/redis/tail/tail.js';
import { textIn } from '../../support/session-driver.js';
import { countSubscribers, startFollower } from '../../support/follower.js';
import { openSpeaker } from '../../support/speaker.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

async function open() {
  const stores = await openTestStores();
  return { stores, ...(await openSpeaker(stores)) };
}

it('the databases of one server share no channels', async () => {
  const here = await open();
  const { id } = here.session;
  const stores = await openTestStores('worker', `${sharedRedisUrl()}/1`);
  const there = await openSpeaker(stores, id);
  const follower = startFollower(stores.streamManager, id, 0);
  let stops = 0;
  const leave = await stores.streamManager.onStop(id, () => (stops += 1));
  await until(
    'it listens',
    async () => (await countSubscribers(here.stores.redis, id, 'channel:1')) === 1,
  );
  await here.say('mine');
  await here.session.stop({ runId: here.runId });
  await there.say('yours');
  await until('it has read', () => follower.entries.length > 0);
  expect([textIn(follower.entries), stops]).toEqual(['yours', 0]);
  await there.session.stop({ runId: there.runId });
  await until('it is stopped', () => stops === 1);
  leave();
  await follower.stop();
});

describe('follow', () => {
  it('a follower reads a long log in pages and parses nothing twice', async () => {
    const { stores, session, say } = await open();
    await say(...Array.from({ length: 450 }, () => 'x'));
    const sizes: number[] = [];
    const controller = new AbortController();
    for await (const page of stores.streamManager.follow(session.id, 0, controller.signal)) {
      sizes.push(page.length);
      if (sizes.reduce((a, b) => a + b) === 450) break;
    }
    expect(sizes).toEqual([200, 200, 50]);
  });

  it.each<[string, number, (subscriber: EventEmitter) => unknown]>([
    ['at its idle check, even if nothing follows', 4_000, () => undefined],
    ['as soon as its connection is back', 0, (subscriber) => subscriber.emit('ready')],
    ['at once behind a message that is cut', 0, (heard) => heard.emit('smessage', 's', '[1,[[2')],
    ['at once behind a foreign message', 0, (heard) => heard.emit('smessage', 's', 'hello')],
  ])('a follower repairs a lost publish %s', async (_, afterMs, happen) => {
    jest.useFakeTimers();
    const message = { ...textChunk('a'), timestamp: 1 };
    const entries: LogEntry[] = [];
    const subscriber = Object.assign(new EventEmitter(), {
      ssubscribe: () => Promise.resolve(),
      sunsubscribe: () => Promise.resolve(),
      ping: () => Promise.resolve(),
      options: {},
      status: 'ready',
    });
    const { follow } = createTail(subscriber, {
      channelOf: (streamId) => streamId,
      read: () => Promise.resolve({ entries, sequence: entries.length, server: '' }),
      resolve: (_, published) => published,
    });
    const controller = new AbortController();
    const pages: unknown[] = [];
    const next = follow('s', 0, controller.signal).next();
    void next.then(({ value }) => pages.push(value));
    await jest.advanceTimersByTimeAsync(100);
    entries.push({ sequence: 1, writer: 'm1', message });
    happen(subscriber);
    await jest.advanceTimersByTimeAsync(afterMs);
    expect(pages).toEqual([entries]);
    controller.abort();
  });

  it('a follower ends on request, and unsubscribes from the channel', async () => {
    const { stores, session, say } = await open();
    const follower = startFollower(stores.streamManager, session.id, 0);
    await say('a');
    await until('it is live', () => follower.entries.length === 1);
    expect(await countSubscribers(stores.redis, session.id)).toBe(1);
    await follower.stop();
    await until('the channel is left', async () => {
      return (await countSubscribers(stores.redis, session.id)) === 0;
    });
    await say('b');
    expect(textIn(follower.entries)).toBe('a');
  });

  it('a channel that steps join and leave again and again stays subscribed until the last has left', async () => {
    jest.useFakeTimers();
    const ssubscribe = jest.fn(() => Promise.resolve());
    const sunsubscribe = jest.fn(() => Promise.resolve());
    const subscriber = Object.assign(new EventEmitter(), {
      ssubscribe,
      sunsubscribe,
      ping: () => Promise.resolve(),
      options: {},
      status: 'ready',
    });
    const { join } = createChannels<number>(subscriber, () => undefined);
    for (const member of [1, 2, 3, 4]) {
      (await join('c', member))();
      await jest.advanceTimersByTimeAsync(1_500);
    }
    expect(ssubscribe).toHaveBeenCalledTimes(1);
    expect(sunsubscribe).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(4_000);
    expect(sunsubscribe).toHaveBeenCalledTimes(1);
  });

  it('before Redis 7, channels are those of the whole server, also once it was upgraded', async () => {
    jest.useFakeTimers();
    const unknown = new Error("ERR unknown command 'ssubscribe'");
    Object.assign(unknown, { name: 'ReplyError' });
    const subscribed: string[] = [];
    let [version, hasShards] = ['6.2.14', false];
    const subscriber = Object.assign(new EventEmitter(), {
      ssubscribe: async (channel: string) => {
        if (!hasShards) throw unknown;
        subscribed.push(`sharded ${channel}`);
      },
      sunsubscribe: () => Promise.reject(unknown),
      subscribe: async (channel: string) => subscribed.push(channel),
      unsubscribe: async (channel: string) => subscribed.splice(subscribed.indexOf(channel), 1),
      info: async () => `redis_version:${version}\r\n`,
      ping: () => Promise.resolve(),
      options: {},
      status: 'ready',
    });
    const heard: string[] = [];
    const { join } = createChannels<number>(subscriber, (_, message) => heard.push(message));
    const [leave] = await Promise.all([join('c', 1), join('d', 1)]);
    expect(subscribed).toEqual(['c', 'd']);
    subscriber.emit('message', 'c', 'hello');
    expect(heard).toEqual(['hello']);
    leave();
    await jest.advanceTimersByTimeAsync(4_000);
    expect(subscribed).toEqual(['d']);
    [version, hasShards] = ['7.0.0', true];
    subscriber.emit('ready');
    expect(subscribed).toEqual(['d', 'sharded d', 'd']);
    // A proxy before a newer server may refuse the command.
    hasShards = false;
    const channels = createChannels<number>(subscriber, () => undefined);
    await expect(channels.join('e', 1)).rejects.toThrow('a Redis without SSUBSCRIBE');
  });

  it('all followers of a session share one subscription', async () => {
    const { stores, session, say } = await open();
    const first = startFollower(stores.streamManager, session.id, 0);
    const second = startFollower(stores.streamManager, session.id, 0);
    await say('a');
    await until('both are live', () => first.entries.length + second.entries.length === 2);
    expect(await countSubscribers(stores.redis, session.id)).toBe(1);
    await first.stop();
    await say('b');
    await until('the other one continues', () => second.entries.length === 2);
    await second.stop();
  });
});
