import { ok } from 'node:assert/strict';
import type { StreamMessage } from '../../../protocol/chunk.js';
import { equal, eventually } from '../assertions.js';
import { server, textChunk, textIn } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import type { KeptPage, Writer } from '../../contract/log.js';
import type { StreamManager } from '../../log/stream-manager.js';

const LENGTH = 1_200;
const AT_ONCE = 100;

/** Appends one entry for each word, counting batches from `batch`. */
async function speak(
  streamManager: StreamManager,
  writer: Writer,
  batch = 1,
  length = LENGTH,
): Promise<void> {
  const base = { ...textChunk('', 1, writer.sessionId), timestamp: 1_763_841_234_567 };
  const words = Array.from({ length }, (_, n): StreamMessage => ({
    ...base,
    delta: `"${String(n)}"\n`,
  }));
  for (let at = 0; at < length; at += AT_ONCE) {
    const reply = await streamManager.append(
      writer,
      batch + at / AT_ONCE,
      words.slice(at, at + AT_ONCE),
    );
    ok(reply.kind === 'appended', reply.kind);
  }
}

/** Waits for pages, which are kept shortly after the appends. */
async function pagesUntil(
  { session, streamManager }: Case,
  count: number,
): Promise<readonly KeptPage[]> {
  let pages: readonly KeptPage[] = [];
  await eventually(`${String(count)} pages are kept`, async () => {
    pages = await streamManager.keptPages(session.id, 0);
    return pages.length === count;
  });
  return pages;
}

/** Cases for stores whose log keeps pages in replay form; other stores pass too. */
export function keptPageCases({ describe, it }: Suite): void {
  describe('kept pages', () => {
    it('have the words of their entries, and lie one behind the other', async (setup) => {
      const { session, streamManager } = setup;
      const { writer } = await session.claimed();
      await speak(streamManager, writer);
      const pages = await pagesUntil(setup, 2);
      let last = 0;
      for (const { from, to, entries } of pages) {
        ok(from > last && to > from);
        const plain = await streamManager.read(session.id, from - 1, to - from + 1);
        equal(textIn(entries), textIn(plain));
        equal(entries.at(-1)?.sequence, to);
        ok(entries.length * 10 <= plain.length);
        last = to;
      }
      equal(await streamManager.keptPages(session.id, pages[0]?.from ?? 0), pages.slice(1));
      equal(await streamManager.keptPages(session.id, last), []);
    });

    it('are gone once their attempt is withdrawn, and the next attempt has its own', async (setup) => {
      const { session, streamManager } = setup;
      const { runId, writer } = await session.claimed();
      await speak(streamManager, writer);
      await pagesUntil(setup, 2);
      const next = session.writer(runId, 1, 2);
      await session.claim(next);
      equal(await streamManager.keptPages(session.id, 0), []);
      await speak(streamManager, next);
      const [page] = await pagesUntil(setup, 2);
      ok(page !== undefined && page.from > LENGTH);
    });

    it('are gone when the step is committed, and when the run ends', async (setup) => {
      const { session, streamManager } = setup;
      const { runId, writer } = await session.claimed();
      await speak(streamManager, writer);
      await pagesUntil(setup, 2);
      await session.commit(writer, { calls: [], final: undefined });
      equal(await streamManager.keptPages(session.id, 0), []);
      const second = session.writer(runId, 2, 1);
      await session.claim(second);
      await speak(streamManager, second);
      await pagesUntil(setup, 2);
      await session.end(runId, 'failed');
      equal(await streamManager.keptPages(session.id, 0), []);
    });

    it('never span entries of another writer', async (setup) => {
      const { session, streamManager } = setup;
      const { runId } = await session.asked(server('s'), server('t'));
      for (const id of ['s', 't']) await session.start(runId, 1, id);
      const [s, t] = ['s', 't'].map((id) => session.callWriter(runId, 1, id, 1)) as [
        Writer,
        Writer,
      ];
      await speak(streamManager, s, 1, 400);
      await speak(streamManager, t, 1, 100);
      await speak(streamManager, s, 5, 500);
      const [page] = await pagesUntil(setup, 1);
      ok(page !== undefined);
      const plain = await streamManager.read(session.id, page.from - 1, page.to - page.from + 1);
      equal(new Set(plain.map(({ writer }) => writer)), new Set(['t:s']));
      equal(textIn(page.entries), textIn(plain));
    });
  });
}
