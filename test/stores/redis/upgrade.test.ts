import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { LogEntry } from '../../../protocol/chunk.js';
import { userMessage } from '../../support/session-driver.js';
import { openRecorded } from './upgrade/open-recorded.js';

const folder = fileURLToPath(new URL('./upgrade/', import.meta.url));
const names = readdirSync(folder).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);

const sequences = (log: LogEntry[]): number[] => log.map(({ sequence }) => sequence);

describe('sessions of release 0.2.0', () => {
  it.each(names)('%s: everything is read as it was', async (name) => {
    const { before, read } = await openRecorded(name);
    expect(await read()).toEqual(before);
  });

  it.each(names)('%s: is erased, and nothing of it is left', async (name) => {
    const { store, session, redis, prefix } = await openRecorded(name);
    await store.sessions.erase(session.id);
    expect(await redis.keys(`${prefix}:{*`)).toEqual([]);
    expect(await store.due.adopt(10)).toBe(0);
    expect((await store.waiting.page({ owner: 'ann' }, { limit: 10 })).sessions).toEqual([]);
  });

  it.each(names)(
    '%s: is stopped and continues with a new turn; its log counts on',
    async (name) => {
      const { store, session, before, runId, read, field } = await openRecorded(name);
      await session.stop();
      await session.end(runId, 'interrupted');
      while ((await store.queue.read(session.id)).length > 0) {
        await store.queue.remove({ sessionId: session.id, now: Date.now() });
      }
      expect(await session.begin({ messages: [userMessage('next')] })).toMatchObject({
        kind: 'begun',
      });
      const after = await read();
      expect(sequences(after.log.slice(0, before.log.length))).toEqual(sequences(before.log));
      expect(sequences(after.log)).toEqual([...sequences(after.log)].sort((a, b) => a - b));
      const rows = before.view?.rows ?? [];
      expect(after.view?.rows.slice(0, rows.length)).toEqual(rows);
      expect(after.view?.rows.at(-1)).toMatchObject({ role: 'user', id: 'next' });
      expect(after.runs.slice(0, -2)).toEqual(before.runs.slice(0, -1));
      expect(await field('layout')).toBe('1');
    },
  );

  it.each(names)('%s: what it has accepted it takes in no more', async (name) => {
    const { session, before, store, read } = await openRecorded(name);
    const queued = before.view?.queue.flatMap(({ messages }) => messages.map(({ id }) => id)) ?? [];
    const ids = (before.view?.rows ?? []).flatMap((row) => (row.role === 'user' ? row.id : []));
    const accepted = [...ids, ...queued];
    expect((await store.sessions.acceptedMessages(session.id, accepted)).sort()).toEqual(
      accepted.sort(),
    );
    for (const row of before.view?.rows ?? []) {
      if (row.role !== 'user') continue;
      const [part] = row.parts;
      const text = part?.type === 'text' ? part.text : '';
      const again = await session.begin({ messages: [userMessage(row.id, text)] });
      expect(again).toEqual({ kind: 'accepted' });
    }
    expect((await read()).view?.rows).toEqual(before.view?.rows);
  });
});
