import { createRowsCache } from '../../activities/rows-cache.js';
import type { Row } from '../../protocol/rows.js';

const KB = 1024;

/** Sessions of turns, whose rows are about two KB each in memory; remembers what was read. */
function countedSessions() {
  const reads: string[] = [];
  let runId = 'r1';
  const rows = (sessionId: string, from: number, to = 0): Promise<Row[]> => {
    reads.push(`${sessionId} ${String(from)}-${String(to)}`);
    const parts = [{ type: 'text' as const, text: 'x'.repeat(KB) }];
    const row = (at: number): Row =>
      at % 2 === 0
        ? { role: 'user', id: String(at), parts }
        : { role: 'assistant', messageId: String(at), runId, step: 1, parts };
    return Promise.resolve(Array.from({ length: to - from }, (_, at) => row(from + at)));
  };
  /** From then on replies are those of another run. */
  const replaceReplies = (): void => void (runId = 'r2');
  return { reads, rows, replaceReplies };
}

const session = (sessionId: string) => ({ sessionId, born: 'b' });

describe('the cache of rows', () => {
  it('the cache of rows loads new rows only, and all of a session that has become shorter', async () => {
    const sessions = countedSessions();
    const cache = createRowsCache(sessions, 100 * KB);
    expect(await cache.load(session('a'), 2)).toHaveLength(2);
    expect(await cache.load(session('a'), 3)).toHaveLength(3);
    expect(await cache.load(session('a'), 1)).toHaveLength(1);
    expect(sessions.reads).toEqual(['a 0-2', 'a 1-3', 'a 0-1']);
  });

  it('the cache of rows keeps to its size, and drops sessions used longest ago first', async () => {
    const sessions = countedSessions();
    const cache = createRowsCache(sessions, 10 * KB);
    for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.load(session(id), 2);
    // Two sessions of two rows fit.
    expect(sessions.reads).toEqual(['a 0-2', 'b 0-2', 'a 1-2', 'c 0-2', 'a 1-2', 'b 0-2']);
  });

  it('the cache of rows drops nothing for a session that is too large to keep', async () => {
    const sessions = countedSessions();
    const cache = createRowsCache(sessions, 10 * KB);
    await cache.load(session('a'), 2);
    await cache.load(session('huge'), 50);
    await cache.load(session('a'), 2);
    await cache.load(session('huge'), 50);
    expect(sessions.reads).toEqual(['a 0-2', 'huge 0-50', 'a 1-2', 'huge 0-50']);
  });

  it('the cache of rows does not take an erased session for the next one of its id', async () => {
    const sessions = countedSessions();
    const cache = createRowsCache(sessions, 100 * KB);
    await cache.load(session('a'), 1);
    await cache.load({ sessionId: 'a', born: 'later' }, 1);
    expect(sessions.reads).toEqual(['a 0-1', 'a 0-1']);
  });

  it('the cache of rows drops rows that a store which came back older has replaced since', async () => {
    const sessions = countedSessions();
    const cache = createRowsCache(sessions, 100 * KB);
    await cache.load(session('a'), 5);
    sessions.replaceReplies();
    const { rows: from } = cache.held('a');
    const given = { from, rows: await sessions.rows('a', from, 5) };
    expect(await cache.load(session('a'), 5, given)).toEqual(await sessions.rows('a', 0, 5));
  });
});
