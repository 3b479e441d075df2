import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { StreamMessage } from '../../../protocol/chunk.js';
import { createRedisStores, type RedisStores } from '../../../store/redis/index.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { newSubAgent } from '../../../store/conformance/tree.js';
import { OWN_KEYS, SHARED_KEYS } from '../../../store/redis/keys.js';
import { dumpKeys } from '../../support/redis-dump.js';
import { drive, newCall, newSessionId, userMessage } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const opened: RedisStores[] = [];
afterAll(() => Promise.all(opened.map((stores) => stores.close())));

/** Retention of sessions and, in any case, of streams, seconds. */
const TTL = 24 * 60 * 60;
/** The first two kinds hold nothing; an erasure writes the third. */
const NEVER: readonly string[] = ['channel', 'stop', 'erased'];

/** Stages of the run: a model is speaking, or people are asked. */
const STAGES = ['speaking', 'asking'] as const;
type Stage = (typeof STAGES)[number];

/** Writes a conversation with every kind of data; all of its texts contain a secret. */
async function writeAll(stage: Stage) {
  const { redis } = await openTestStores();
  const prefix = newSessionId();
  const url = sharedRedisUrl();
  const stores = createRedisStores({ url, whenAway: 'wait', prefix, sessionTtlSeconds: TTL });
  opened.push(stores);
  const { store, streamManager } = stores;
  const session = drive(stores);
  const { id } = session;
  const secret = newSessionId();
  const who = { owner: 'ann', tenant: 'acme' };
  await store.files.add({
    ...who,
    sessionId: id,
    content: Buffer.from(secret),
    file: { id: randomUUID(), mediaType: 'text/plain', filename: secret, sha256: 'x', at: 1 },
    limits: { files: 9, bytes: 999 },
  });
  await session.begin({ ...who, messages: [userMessage('u1', secret)] });
  const runOf = async (): Promise<string> => (await store.sessions.read(id))?.runId ?? '';
  await session.ask(await runOf(), 1, []);
  // A retry drops some of the data.
  await session.retry();
  const runId = await runOf();
  const { call, child } = newSubAgent(id, 'd1');
  const input = { of: secret };
  await session.ask(runId, 1, [
    newCall('big', 'server', { input }),
    newCall('late', 'client', { input, deadlineMs: 1 }),
    call,
  ]);
  await session.carryOut(runId, 1, 'big', secret.repeat(20_000));
  const above = { sessionId: id, runId, toolCallId: 'd1' };
  await store.runs.beginChild({ child, parent: above, now: Date.now() });
  const below = drive(stores, child.sessionId);
  await below.ask(child.runId, 1, [newCall('q', 'approval', { input })]);
  await until(
    'the deadline is over',
    async () => (await session.expire(runId, 'late')).kind === 'stored',
  );
  await below.decide(child.runId, 'q', false);
  await below.ask(child.runId, 2, []);
  await store.calls.settle({
    source: 'child',
    sessionId: id,
    agentType: 'tester',
    toolCallId: 'd1',
    runId,
    row: { role: 'tool', toolCallId: 'd1', toolName: 'subagent-tool', output: secret },
    chunks: [],
    now: Date.now(),
  });
  const writer = session.writer(runId, 2, 1);
  await session.claim(writer);
  const word = textChunk(secret, 2, id);
  for (let batch = 1; batch <= 10; batch += 1) {
    const words = Array<StreamMessage>(100).fill(word);
    await streamManager.append(writer, batch, words);
  }
  const areKept = async (): Promise<boolean> => (await streamManager.keptPages(id, 0)).length > 0;
  await until('pages are kept', areKept);
  await session.answer(runId, 'late', { output: secret });
  await store.staging.stage(id, 's2', {
    toolCallId: 'big',
    patches: [{ op: 'add', path: '/a', value: secret }],
  });
  await store.documents.save(id, { customState: { secret }, version: 0 });
  await session.begin({ ...who, messages: [userMessage('u2', secret)], policy: 'queue' });
  if (stage === 'asking')
    await session.commit(writer, { calls: [newCall('open', 'approval', { input })] });
  await store.waiting.note(id);
  await store.due.note(id, 1_000);
  await store.owners.fold(id);
  return { redis, prefix, stores, session, runId, id, who, secret };
}

const keysOf = (redis: Redis, id: string): Promise<string[]> => redis.keys(`*{${id}}*`);

it('this is all that a session can hold', async () => {
  const written = new Set<string>();
  for (const stage of STAGES) {
    const { redis, id } = await writeAll(stage);
    for (const key of await keysOf(redis, id)) written.add(key.slice(key.lastIndexOf(':') + 1));
  }
  const declared = [...OWN_KEYS, ...SHARED_KEYS].filter((name) => !NEVER.includes(name));
  expect(declared.filter((name) => !written.has(name))).toEqual([]);
});

it.each(STAGES)('an erasure leaves nothing of it but the trail, while it is %s', async (stage) => {
  const { redis, prefix, stores, id, who, secret } = await writeAll(stage);
  const { sessions, erasures, audit } = stores.store;
  const act = { id, at: 1, by: who.owner, action: 'erase' as const };
  await sessions.erase(id, act);
  for (const erasure of await erasures.of(id)) {
    await erasures.clear(id, erasure);
    for (const file of erasure.files) await stores.store.files.forget(id, file);
    await audit.relay(id);
    await erasures.done(id, erasure);
  }
  expect(await keysOf(redis, id)).toEqual([]);
  // The audit trail stays. The sweep removes due entries whose session is gone.
  const left = (await dumpKeys(redis, `${prefix}:*`))
    .filter(({ key }) => !/^[^:]+:(audit|due):/.test(key))
    .filter((dumped) => [id, secret].some((text) => JSON.stringify(dumped).includes(text)));
  expect(left).toEqual([]);
});

it.each(STAGES)(
  'all of it expires once its run has ended while %s, and none while the next one is at work',
  async (stage) => {
    const { redis, stores, session, runId, id, who } = await writeAll(stage);
    const lifetimes = async (): Promise<Record<string, number>> => {
      const keys = await keysOf(redis, id);
      return Object.fromEntries(
        await Promise.all(
          keys.map(async (key): Promise<[string, number]> => [key, await redis.ttl(key)]),
        ),
      );
    };
    await stores.store.queue.remove({ sessionId: id, now: Date.now() });
    await session.end(runId, 'failed');
    const kept = async (): Promise<[string, number][]> =>
      Object.entries(await lifetimes()).filter(([, seconds]) => seconds < 0 || seconds > TTL);
    expect(await kept()).toEqual([]);
    // Data written after the end expires with the rest.
    const { sessions, staging, documents } = stores.store;
    await sessions.noteSnapshot(id, 1, true);
    await staging.stage(id, 's3', { toolCallId: 'late', patches: [] });
    await documents.save(id, { customState: { note: 'late' }, version: 1 });
    expect(await kept()).toEqual([]);
    await session.begin({ ...who, messages: [userMessage('u3')] });
    const again = Object.entries(await lifetimes()).filter(([, seconds]) => seconds >= 0);
    // A sub-agent with a settled call is no longer needed.
    expect(again.filter(([key]) => !key.includes('}:1-'))).toEqual([]);
  },
);
