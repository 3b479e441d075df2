import type { Redis } from 'ioredis';
import { openStores } from '../../support/open-stores.js';
import { drive, newCall, type SessionDriver } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';

const DAY = 24 * 60 * 60;

/** Time to live of each key of a session, in seconds, by the key's name; -1 means no expiry. */
async function lifetimes(redis: Redis, sessionId: string): Promise<Record<string, number>> {
  const names = await redis.keys(`hx:{${sessionId}}:*`);
  const entries = names
    .sort()
    .map(async (name): Promise<[string, number]> => [
      name.slice(name.lastIndexOf(':') + 1),
      await redis.ttl(name),
    ]);
  return Object.fromEntries(await Promise.all(entries));
}

/** The same lifetime for each of these keys. */
function all(seconds: number, ...names: string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, seconds]));
}

/** A run with text and a call that a person must decide. */
async function runUntilPause(session: SessionDriver): Promise<string> {
  const { runId, writer } = await session.speaking();
  await session.say(writer, 1, 'x');
  await session.commit(writer, { calls: [newCall('a', 'approval'), newCall('b', 'server')] });
  await session.carryOut(runId, 1, 'b', 'y'.repeat(300_000));
  return runId;
}

async function finish(session: SessionDriver, runId: string): Promise<void> {
  await session.decide(runId, 'a', false);
  await session.ask(runId, 2, []);
}

const RUNNING = ['index', 'root', 'rows', 'stream', 'writers'];
const WAITING = ['content', 'index', 'results', 'root', 'rows', 'stream'];
const ENDED = ['index', 'results', 'root', 'rows', 'runs'];

describe('the keys of a session', () => {
  it('the keys of a session do not expire while it starts, runs or waits; those of an ended one do so for the stream only', async () => {
    const { redis, ...stores } = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    expect(Object.values(await lifetimes(redis, session.id)).every((ttl) => ttl === -1)).toBe(true);
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'x');
    expect(await lifetimes(redis, session.id)).toEqual(all(-1, ...RUNNING));
    await session.end(runId, 'failed');

    const waiting = await runUntilPause(session);
    expect(await lifetimes(redis, session.id)).toMatchObject(all(-1, ...WAITING));
    expect(new Set(Object.values(await lifetimes(redis, session.id)))).toEqual(new Set([-1]));

    await finish(session, waiting);
    const { stream, ...rest } = await lifetimes(redis, session.id);
    expect(rest).toEqual(all(-1, ...ENDED));
    expect(stream).toBeGreaterThan(DAY - 60);
    expect(stream).toBeLessThanOrEqual(DAY);
  });

  it('the keys of a session are kept for queued messages, and expire when these are removed', async () => {
    const { redis, ...stores } = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.enqueue('later');
    await session.end(runId, 'failed');
    expect(await lifetimes(redis, session.id)).toMatchObject(all(-1, 'content', 'stream'));
    await stores.store.queue.remove({ sessionId: session.id, messageId: 'later', now: Date.now() });
    expect((await lifetimes(redis, session.id))['stream']).toBeGreaterThan(DAY - 60);
  });

  it('keys that were written after the end expire with the others', async () => {
    const { redis } = await openTestStores();
    const stores = await openStores(sharedRedisUrl(), 'worker', { sessionTtlSeconds: 3 * DAY });
    const session = drive(stores);
    await finish(session, await runUntilPause(session));
    await stores.store.sessions.noteActiveSnapshot(session.id, 1);
    await stores.store.staging.stage(session.id, 's1', { toolCallId: 'b', patches: [] });
    await stores.store.documents.save(session.id, { customState: { note: 'late' }, version: 0 });
    const names = Object.keys(await lifetimes(redis, session.id));
    expect(names).toEqual(expect.arrayContaining(['content', 'index']));
    expect(Object.values(await lifetimes(redis, session.id))).not.toContain(-1);
  });
});
