import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { newNonce, textIn, userMessage } from '../../support/session-driver.js';
import { openRecorded, type Upgraded } from './upgrade/open-recorded.js';

const LARGE = 'x'.repeat(70_000);

async function users({ store, session }: Upgraded): Promise<string[]> {
  const rows = (await store.sessions.view(session.id))?.rows ?? [];
  return rows.flatMap((row) => (row.role === 'user' ? row.id : []));
}

const upTo = (n: number): string[] => Array.from({ length: n }, (_, at) => `u${String(at + 1)}`);

/** Bytes of what a session stores beside its log. */
async function sizeOf(redis: Redis, keys: string): Promise<number> {
  const texts = [
    ...(await redis.lrange(`${keys}rows`, 0, -1)),
    ...(await redis.hvals(`${keys}states`)),
    ...(await redis.hvals(`${keys}results`)),
    ...(await redis.lrange(`${keys}queue`, 0, -1)),
  ];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

describe('a session that release 0.2.0 left at rest', () => {
  it('which was interrupted continues behind its last step, and says the open one again', async () => {
    const { session } = await openRecorded('interrupted');
    const resumed = await session.resume();
    expect(resumed).toMatchObject({ kind: 'resumed', run: { turn: 1, from: { step: 1 } } });
    expect(textIn(await session.log())).toBe('');
  });

  it('which has failed for a passing reason is done again', async () => {
    const { session } = await openRecorded('failed');
    expect(await session.resume()).toMatchObject({ kind: 'resumed', run: { turn: 2 } });
  });

  it('a session of release 0.2.0 keeps the outputs of its runs, and stores large results separately once that is allowed', async () => {
    const { session, store, field } = await openRecorded('completed', 2);
    const output = { text: LARGE, items: [] };
    expect(await field('layout')).toBeNull();
    const { runId } = await session.newRun('u3');
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer, { output });
    expect(await field('layout')).toBe('2');
    expect(await field('output')).toBeNull();
    expect((await store.runs.list(session.id)).map((run) => run.output)).toEqual([
      undefined,
      output,
      output,
    ]);
  });

  it('a session of release 0.2.0 stays in layout 1 while that release may read it', async () => {
    const { session, field } = await openRecorded('completed');
    const { runId } = await session.newRun('u3');
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer, { output: LARGE });
    expect(await field('layout')).toBe('1');
    expect(await field('output')).toBe(JSON.stringify(LARGE));
  });

  it('a session of release 0.2.0 is rewound to any turn, with the state of that moment', async () => {
    const upgraded = await openRecorded('long');
    const { session, store, redis, prefix } = upgraded;
    expect(await session.retry({ messageId: 'u7' })).toMatchObject({ run: { turn: 7 } });
    expect(await users(upgraded)).toEqual(upTo(7));
    expect((await store.documents.readState(session.id)).customState).toEqual({ turns: 6 });
    const runs = await store.runs.list(session.id);
    expect(runs.map(({ rewound }) => rewound === true)).toEqual([
      ...Array<boolean>(6).fill(false),
      ...Array<boolean>(6).fill(true),
      false,
    ]);
    // Release 0.2.0 looks for the mark in each run.
    const stored = await redis.hvals(`${prefix}:{${session.id}}:runs`);
    expect(stored.filter((run) => run.includes('"rewound":true'))).toHaveLength(6);
  });

  it('a session of release 0.2.0 is rewound to any checkpoint', async () => {
    const upgraded = await openRecorded('long');
    const { session, before } = upgraded;
    const checkpoint = before.checkpoints.find(({ messageCount }) => messageCount === 10);
    expect(await session.rewindTo(checkpoint?.id ?? '')).toMatchObject({ run: { turn: 5 } });
    expect(await users(upgraded)).toEqual(upTo(5));
    expect(textIn(await session.log())).toBe(
      upTo(5)
        .map((id) => `said to ${id}. `)
        .join(''),
    );
  });

  it('which was taken back before is taken back again, and keeps what is staged', async () => {
    const upgraded = await openRecorded('rewound');
    const { session, store } = upgraded;
    expect((await store.staging.promoteSettled(session.id)).customState).toEqual({
      turns: 8,
      staged: [],
    });
    const messages = [userMessage('u9', 'a third version')];
    expect(await session.retry({ messageId: 'u9', messages })).toMatchObject({ run: { turn: 9 } });
    expect(await users(upgraded)).toEqual(upTo(9));
  });

  it.each(['long', 'queued'])(
    "a session of release 0.2.0 counts towards its owner's storage once it was read (%s)",
    async (name) => {
      const { session, store, redis, prefix } = await openRecorded(name);
      const owner = { owner: 'ann' };
      await store.owners.fold(session.id);
      expect(await store.owners.usage(owner)).toMatchObject({ sessions: 1, bytes: 0 });
      const { conversations } = await store.owners.page(owner, { limit: 10 });
      expect(conversations).toMatchObject([{ sessionId: session.id, title: 'hello from u1' }]);

      const stored = await sizeOf(redis, `${prefix}:{${session.id}}:`);
      await store.owners.repair(owner);
      expect(await store.owners.usage(owner)).toMatchObject({ bytes: stored });
      await session.begin({ ...owner, messages: [userMessage('new', LARGE)], policy: 'queue' });
      await store.owners.repair(owner);
      // What waits has its hash beside it, in tests the text.
      const { bytes } = await store.owners.usage(owner);
      expect(bytes).toBeGreaterThan(stored + LARGE.length);
      expect(bytes).toBeLessThan(stored + 2 * LARGE.length + 2_000);
      await store.sessions.erase(session.id);
      expect(await store.owners.usage(owner)).toEqual({
        runs: 0,
        queued: 0,
        sessions: 0,
        bytes: 0,
      });
    },
  );

  it('a copy of a session of release 0.2.0 continues like any other', async () => {
    const { session, store } = await openRecorded('branched');
    expect((await store.documents.readState(session.id)).customState).toEqual({ copied: true });
    expect(await session.newRun('u2')).toMatchObject({ turn: 2 });
  });
});

describe('a session in which processes of both releases took turns', () => {
  it.each([3, 4, 5, 6])('a session of both releases is rewound to turn %d of six', async (turn) => {
    const upgraded = await openRecorded('mixed-turns');
    const { session } = upgraded;
    const { runId } = await session.newRun('u6');
    await session.end(runId, 'completed');
    const again = await session.retry({ messageId: `u${String(turn)}` });
    expect(again).toMatchObject({ run: { turn, messageId: `msg-${String(2 * turn - 1)}` } });
    expect(await users(upgraded)).toEqual(upTo(turn));
  });

  it('a session of both releases is rewound to a checkpoint of release 0.2.0', async () => {
    const upgraded = await openRecorded('mixed-turns');
    const { session, before } = upgraded;
    const checkpoint = before.checkpoints.find(({ messageCount }) => messageCount === 8);
    expect(await session.rewindTo(checkpoint?.id ?? '')).toMatchObject({ run: { turn: 4 } });
    expect(await users(upgraded)).toEqual(upTo(4));
  });

  it('a session of both releases has the message that release 0.2.0 edited', async () => {
    const upgraded = await openRecorded('mixed-edit');
    const { session } = upgraded;
    const messages = [userMessage('u2', 'a third word')];
    expect(await session.retry({ messageId: 'u2', messages })).toMatchObject({ kind: 'rewound' });
    expect(await users(upgraded)).toEqual(['u1', 'h2', 'u2']);
  });

  it('a session of both releases continues the newest turn, and keeps those before it', async () => {
    const { session } = await openRecorded('mixed-resumed');
    expect(await session.resume()).toMatchObject({ kind: 'resumed', run: { turn: 3 } });
    expect(textIn(await session.log())).toBe('half a wordsaid to u2. ');
  });

  it('a session that release 0.2.0 erases leaves nothing to another one of its id', async () => {
    const { session, store, redis, prefix } = await openRecorded('mixed-turns');
    await session.retry({ messageId: 'u2' });
    // 0.2.0 leaves behind what it does not know of.
    const ours = ['places', 'rewinds'].map((name) => `${prefix}:{${session.id}}:${name}`);
    const all = await redis.keys(`${prefix}:{*`);
    await redis.del(...all.filter((key) => !ours.includes(key)));
    expect(await redis.exists(...ours)).toBe(2);
    for (const id of ['u1', 'u2', 'u3']) {
      const { runId } = await session.newRun(id);
      await session.end(runId, 'completed');
    }
    expect((await store.runs.list(session.id)).some(({ rewound }) => rewound === true)).toBe(false);
    const nonce = newNonce();
    expect(await session.retry({ messageId: 'u2', nonce })).toMatchObject({ run: { turn: 2 } });
  });
});
