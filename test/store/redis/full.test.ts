import { Redis } from 'ioredis';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, newCall, newSessionId, textIn } from '../../support/session-driver.js';
import { openSpeaker } from '../../support/speaker.js';

let server: RedisServer;
let redis: Redis;

beforeEach(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterEach(async () => {
  await closeStores();
  redis.disconnect();
  await server.close();
});

const fill = (): Promise<unknown> => redis.config('SET', 'maxmemory', '1mb');
const free = (): Promise<unknown> => redis.config('SET', 'maxmemory', '0');

const full = {
  name: 'HelixError',
  code: 'unavailable',
  message: 'The conversation store cannot be reached right now.',
};

/**
 * Opens four sessions: one that speaks, one that waits, one with a running tool, one that ended.
 */
async function openSessions() {
  const worker = await openStores(server.url, 'worker');
  const api = await openStores(server.url, 'api');
  const author = await openSpeaker(worker);
  await author.say('hello');
  const [waiting, working, ended] = [drive(api), drive(api), drive(api)];
  const waits = await waiting.newRun();
  await waiting.ask(waits.runId, 1, [newCall('a', 'approval'), newCall('b', 'client')]);
  const works = await working.newRun();
  await working.ask(works.runId, 1, [newCall('t', 'server')]);
  await working.start(works.runId, 1, 't', 1);
  await ended.end((await ended.newRun()).runId, 'completed');
  for (const { id } of [waiting, working]) await api.store.due.note(id, 60_000);
  return { worker, api, speaker: author, waiting, waits, working, works, ended };
}

describe('a Redis that is full', () => {
  it.each(['has the scripts', 'has lost the scripts'])(
    'a full Redis and %s accepts nothing new, but answers, ends, stops and erasures',
    async (state) => {
      const { api, speaker: author, waiting, waits, working, works, ended } = await openSessions();
      if (state === 'has lost the scripts') await redis.script('FLUSH');
      await fill();
      await expect(drive(api).newRun()).rejects.toMatchObject(full);
      await expect(waiting.enqueue('next')).rejects.toMatchObject(full);
      const text = drive(api, author.session.id);
      await expect(text.say(author.writer, 2, 'more')).rejects.toMatchObject(full);
      await expect(text.commit(author.writer)).rejects.toMatchObject(full);

      for (const known of [waiting, working]) await api.store.due.note(known.id, 0);
      await expect(api.store.due.note(newSessionId(), 0)).rejects.toMatchObject(full);
      expect((await api.store.sessions.view(waiting.id))?.openCalls).toHaveLength(2);
      expect(await api.streamManager.getAllChunks(waiting.id)).not.toHaveLength(0);
      expect((await api.streamManager.getStreamInfo(waiting.id))?.totalChunks).toBeGreaterThan(0);
      await api.store.sessions.noteSnapshot(waiting.id, 1, true);
      expect(await waiting.decide(waits.runId, 'a', true)).toMatchObject({ kind: 'stored' });
      expect(await waiting.answer(waits.runId, 'b', { output: 1 })).toMatchObject({
        kind: 'stored',
      });
      expect(await working.finishCall(works.runId, 1, 't', 'done', 1)).toMatchObject({
        kind: 'stored',
      });
      expect(
        await api.store.steps.discard({ writer: author.writer, failure: 1, reason: 'x', now: 1 }),
      ).toMatchObject({ kind: 'discarded' });
      expect(await working.stop()).toMatchObject({ kind: 'ended' });
      expect(await text.end(author.runId, 'failed')).toMatchObject({ kind: 'ended' });
      const { requests } = api.store;
      expect(await requests.claim('key', 'digest', 1_000)).toEqual({ kind: 'new' });
      await requests.settle('key', 'reply', 1_000, 'digest');
      expect(await requests.claim('key', 'digest', 1_000)).toMatchObject({ reply: 'reply' });
      expect(await createIdleRuns(api).deleteSession(ended.id)).toMatchObject({ sessions: 1 });
      expect(await api.store.sessions.read(ended.id)).toBeUndefined();
    },
  );

  it('a full Redis without a prior request lets a run be stopped', async () => {
    const { working } = await openSessions();
    await redis.script('FLUSH');
    await fill();
    const fresh = await openStores(server.url, 'api');
    expect(await drive(fresh, working.id).stop()).toMatchObject({ kind: 'ended' });
    expect(await fresh.store.sessions.read(working.id)).toMatchObject({ status: 'interrupted' });
  });

  it('workers wait until Redis has room, and write each word once', async () => {
    const { speaker: author, worker } = await openSessions();
    await fill();
    const written = author.say(' more');
    const begun = drive(worker, newSessionId()).newRun();
    await expect(Promise.race([written, begun, refusedWrites(3)])).resolves.toBe('refused');
    await free();
    await written;
    expect((await begun).runId).toContain(':1-');
    expect(textIn(await author.session.log())).toBe('hello more');
  });
});

/** Resolves when Redis has refused this many writes for lack of memory. */
async function refusedWrites(count: number): Promise<string> {
  for (;;) {
    const stats = await redis.info('errorstats');
    if (Number(/^errorstat_OOM:count=(\d+)/m.exec(stats)?.[1] ?? 0) >= count) return 'refused';
  }
}
