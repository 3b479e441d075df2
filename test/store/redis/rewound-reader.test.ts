import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startFollower } from '../../support/follower.js';
import { openStores } from '../../support/test-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';

/** A copy of a Redis's append-only file, as in a backup. */
interface OlderCopy {
  /**
   * Kills the server and restarts it with the copied file. `meanwhile` gets the restored data at
   * another address before waiting clients reach the server.
   */
  restore: (meanwhile?: (url: string) => Promise<void>) => Promise<void>;
}

const FILES = 'appendonlydir';

function copyData(server: RedisServer): OlderCopy {
  const folder = mkdtempSync(join(tmpdir(), 'helix-copy-'));
  cpSync(join(server.folder, FILES), join(folder, FILES), { recursive: true });
  return {
    restore: async (meanwhile) => {
      await server.kill9();
      rmSync(join(server.folder, FILES), { recursive: true });
      cpSync(join(folder, FILES), join(server.folder, FILES), { recursive: true });
      rmSync(folder, { recursive: true });
      if (meanwhile !== undefined) {
        const elsewhere = await startRedis({ dir: server.folder });
        await meanwhile(elsewhere.url);
        await elsewhere.close();
      }
      await server.restart();
    },
  };
}

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(async () => {
  await server.close();
});

const REWOUND = { name: 'HelixError', code: 'rewound' };

/** Opens a session with ten entries in the copy and ten later ones; a follower has all of them. */
async function openAhead() {
  const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
  const author = await openSpeaker(worker);
  const quiet = await openSpeaker(worker);
  await author.say(...words(10));
  await quiet.say(...words(10));
  const copy = copyData(server);
  await author.say(...words(10, 10));
  const ahead = startFollower(api.streamManager, author.session.id, 0);
  const level = startFollower(api.streamManager, quiet.session.id, 0);
  await until('both have all', () => ahead.entries.length === 20 && level.entries.length === 10);
  return { worker, api, speaker: author, quiet, copy, ahead, level };
}

describe('readers of a Redis that came back older', () => {
  it('readers ahead of an older Redis are cut, and others continue', async () => {
    const { api, speaker: author, quiet, copy, ahead, level } = await openAhead();
    await copy.restore();
    await expect(ahead.ended).rejects.toMatchObject(REWOUND);
    await quiet.say('more');
    await until('the others continue', () => level.entries.length === 11);
    await level.stop();
    expect(textIn(level.entries)).toBe(`${words(10).join('')}more`);
    // A reader that returns with its old position is cut too.
    const again = startFollower(api.streamManager, author.session.id, 20);
    await expect(again.ended).rejects.toMatchObject(REWOUND);
  });

  it('readers are cut if another run has overwritten their entries before they read', async () => {
    const { speaker: author, copy, ahead, level } = await openAhead();
    await copy.restore(async (url) => {
      const stores = await openStores(url);
      const session = drive(stores, author.session.id);
      for (let batch = 11; batch <= 30; batch += 1) {
        await session.say(author.writer, batch, 'other ');
      }
      await stores.close();
    });
    await expect(ahead.ended).rejects.toMatchObject(REWOUND);
    expect(textIn(ahead.entries)).toBe(words(20).join(''));
    await level.stop();
  });

  it('readers are cut if the log continues behind a gap that held their last entry', async () => {
    const { speaker: author, copy, ahead, level } = await openAhead();
    await copy.restore(async (url) => {
      const stores = await openStores(url);
      const redis = new Redis(url);
      await redis.hset(`hx:{${author.session.id}}:root`, 'seq', 100);
      await drive(stores, author.session.id).say(author.writer, 11, 'behind');
      redis.disconnect();
      await stores.close();
    });
    await expect(ahead.ended).rejects.toMatchObject(REWOUND);
    expect(textIn(ahead.entries)).toBe(words(20).join(''));
    await level.stop();
  });
});

it('readers are not cut when their last entry was withdrawn while they were away', async () => {
  const { worker, api, quiet, ahead, level } = await openAhead();
  await ahead.stop();
  const redis = new Redis(server.url);
  const young = quiet.session.writer(quiet.runId, 1, 2);
  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await quiet.session.claim(young);
  await drive(worker, quiet.session.id).say(young, 1, 'kept');
  await until('it continues', () => textIn(level.entries).endsWith('kept'));
  await level.stop();
  redis.disconnect();
  const types = level.entries.slice(10).map(({ message }) => message.type);
  expect(types).toEqual(['step_discarded', 'stream_resync', 'text_delta']);
  expect(await api.store.sessions.read(quiet.session.id)).toMatchObject({ status: 'running' });
});

it('a writer ahead of an older Redis is refused, and nothing is written over the gap', async () => {
  const { speaker: author, copy, worker, ahead, level } = await openAhead();
  await copy.restore();
  const before = await author.session.log();
  // The batch number would fit, but the writer knows of twenty entries.
  expect(await author.session.say(author.writer, 11, 'x', 20)).toEqual({ kind: 'rewound' });
  // This writer does not send its known sequence, but ten of its batches are gone.
  expect(await author.session.say(author.writer, 21, 'x')).toEqual({ kind: 'rewound' });
  expect(await author.session.log()).toEqual(before);
  expect(await worker.streamManager.inspect(author.session.id)).toMatchObject({ sequence: 10 });
  await ahead.ended.catch(() => undefined);
  await level.stop();
});
