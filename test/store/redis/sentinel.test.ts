import { explainRedis } from '../../../store/redis/inspect-redis.js';
import { startFollower } from '../../support/follower.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import { startSentinelPair, type SentinelPair } from '../../support/redis-sentinel.js';
import { drive, textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

const pairs: SentinelPair[] = [];

afterAll(async () => {
  await closeStores();
  await Promise.all(pairs.map((pair) => pair.close()));
});

async function startPair(): Promise<SentinelPair> {
  const pair = await startSentinelPair();
  pairs.push(pair);
  return pair;
}

async function untilReplicaHas(pair: SentinelPair, id: string, entries: number): Promise<void> {
  await until('the replica has all', () =>
    pair.replica.ask(
      async (redis) => Number(await redis.hget(`hx:{${id}}:root`, 'seq')) >= entries,
    ),
  );
}

describe('behind Sentinels, when the master is killed', () => {
  it.concurrent(
    'the writer continues or is refused, and no follower differs from the new log',
    async () => {
      const pair = await startPair();
      const [worker, api] = [await openStores(pair.url), await openStores(pair.url, 'api')];
      const { session, writer } = await openSpeaker(worker);
      const follower = startFollower(api.streamManager, session.id, 0);
      let known = 0;
      let batch = 0;
      const speak = async (text: string): Promise<string> => {
        const result = await session.say(writer, (batch += 1), text, known);
        if (result.kind === 'appended') known = result.sequence;
        return result.kind;
      };
      for (const word of words(100)) await speak(word);
      await until('the follower has them', () => follower.entries.length === 100);
      const speaking = (async () => {
        for (const word of words(2_000, 100)) {
          const kind = await speak(word);
          if (kind !== 'appended') return kind;
        }
        return 'appended';
      })();
      await until('the writer is in the middle', () => follower.entries.length > 300);
      await pair.master.kill9();
      const outcome = await speaking;
      expect(['appended', 'rewound']).toContain(outcome);

      const log = await drive(worker, session.id).log();
      if (follower.entries.length > log.length) {
        await expect(follower.ended).rejects.toMatchObject({ code: 'rewound' });
      } else {
        await until('it has the new log', () => follower.entries.length >= log.length);
        await follower.stop();
        expect(follower.entries).toEqual(log);
      }
      if (outcome === 'appended') expect(textIn(log)).toBe(words(2_100).join(''));
    },
  );

  it.concurrent(
    'what the replica had not got is noticed by the writer and by the follower',
    async () => {
      const pair = await startPair();
      const [worker, api] = [await openStores(pair.url), await openStores(pair.url, 'api')];
      const { session, say, writer } = await openSpeaker(worker);
      const follower = startFollower(api.streamManager, session.id, 0);
      await say(...words(10));
      await untilReplicaHas(pair, session.id, 10);
      const link = await startTcpProxy(pair.master.port);
      await pair.replica.ask((redis) => redis.replicaof('127.0.0.1', link.port));
      // From its next acknowledgement on, the replica receives nothing more from its master.
      await link.holdAt('ACK', 'before');
      await say(...words(10, 10));
      await until('the follower is ahead', () => follower.entries.length === 20);
      await pair.master.kill9();
      expect(await session.say(writer, 21, 'x', 20)).toEqual({ kind: 'rewound' });
      await expect(follower.ended).rejects.toMatchObject({ code: 'rewound' });
      expect(textIn(await session.log())).toBe(words(10).join(''));
      await link.close();
    },
  );
});

it('when Sentinels promote a replica while its master still runs, writers and followers go to it at once, with a password for the Sentinels', async () => {
  const pair = await startPair();
  await pair.demand('p@ss');
  const url = `${pair.url}?sentinelPassword=p%40ss`;
  const [worker, api] = [await openStores(url), await openStores(url, 'api')];
  const { session, say, writer } = await openSpeaker(worker);
  await say(...words(10));
  const follower = startFollower(api.streamManager, session.id, 0);
  await until('the follower has them', () => follower.entries.length === 10);
  await untilReplicaHas(pair, session.id, 10);
  await pair.failOver();
  // The Sentinel makes the old master a replica after ten seconds.
  await until('all have left the old master', () =>
    pair.master.ask(async (redis) => {
      const clients = String(await redis.client('LIST'))
        .trim()
        .split('\n');
      return clients.every((each) => /cmd=client|name=sentinel-/.test(each));
    }),
  );
  expect(await session.say(writer, 11, 'new', 10)).toMatchObject({ kind: 'appended' });
  const seq = await pair.replica.ask((redis) => redis.hget(`hx:{${session.id}}:root`, 'seq'));
  expect(Number(seq)).toBe(11);
  await until('the follower has it', () => follower.entries.length === 11);
  const [role] = await pair.master.ask((redis) => redis.role());
  expect(role).toBe('master');
  await follower.stop();
});

it('a password that the Sentinels do not accept, or that is missing, is told as such', async () => {
  const pair = await startPair();
  await pair.demand('right');
  const [named, wrong] = [
    `${pair.url}?sentinelPassword=right`,
    `${pair.url}?sentinelPassword=wrong`,
  ];
  expect(await explainRedis(named, 'here')).toBeUndefined();
  for (const url of [wrong, pair.url]) {
    expect(await explainRedis(url, 'here')).toMatch(
      /^The Sentinels at here do not accept .*\(docs\/redis\.md\)\.$/,
    );
  }
});
