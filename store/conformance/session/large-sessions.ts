import { HelixError } from '../../../protocol/errors.js';
import { equal, includes, refuses } from '../assertions.js';
import { AGENT, textChunk, textIn, userMessage } from '../fixtures.js';
import { playTurn } from './played-turns.js';
import type { Suite } from '../suite.js';
import { childAt, grow } from '../tree.js';

/** More entries than one request handles. */
const ENTRIES = 9_000;
const SUB_AGENTS = 30;

/** Cases of work that takes several requests: it is either complete or not visibly begun. */
export function largeSessionCases({ describe, it }: Suite): void {
  describe('a large session', () => {
    it('its rows are read in pages, each of which its reader is asked about', async (setup) => {
      const { store, session } = setup;
      const texts = Array.from({ length: 12 }, (_, n) => `${String(n)}${'x'.repeat(200_000)}`);
      const messages = texts.map((text, n) => userMessage(`u${String(n)}`, text));
      includes(await session.begin({ messages }), { kind: 'begun' });
      await session.begin({ messages: [userMessage('q', 'y'.repeat(200_000))], policy: 'queue' });
      const pages: number[] = [];
      const meter = {
        take: (bytes: number) => {
          pages.push(bytes);
          return Promise.resolve();
        },
      };
      const view = await store.sessions.view(session.id, meter);
      equal(view?.rows, await session.rows());
      equal(pages.reduce((sum, bytes) => sum + bytes) > 2_600_000, true);
      equal(
        pages.every((bytes) => bytes < 1_000_000),
        true,
      );
      equal(await store.queue.read(session.id, meter), view?.queue);
      // What waits is asked about too, alone and in a view.
      equal(
        [pages[0], pages.at(-1)].map((bytes = 0) => bytes > 200_000),
        [true, true],
      );
      const excess = new HelixError('too_many_requests', 'enough');
      const enough = { take: () => Promise.reject(excess) };
      await refuses(store.sessions.view(session.id, enough), 'too_many_requests');
      await refuses(store.sessions.rows(session.id, 3, undefined, enough), 'too_many_requests');
    });

    it('a view is of one moment, also if the session is erased while it is read', async (setup) => {
      const { store, session } = setup;
      await playTurn(session, 'u1');
      let taken = 0;
      const meter = {
        take: async () => {
          taken += 1;
          if (taken === 1) await store.sessions.erase(session.id);
        },
      };
      for (let n = 2; n <= 4; n += 1) await playTurn(session, `u${String(n)}`);
      equal(await store.sessions.view(session.id, meter), undefined);
    });

    it('everything that a lost attempt wrote is withdrawn, and nothing else', async (setup) => {
      const { streamManager, session } = setup;
      const { runId, writer } = await session.claimed();
      const beside = await streamManager.createWriter(session.id, session.id, AGENT);
      const words = Array.from({ length: ENTRIES / 2 }, () => textChunk('gone'));
      await streamManager.append(writer, 1, words);
      await beside.write(textChunk('kept'));
      await streamManager.append(writer, 2, words);
      await session.claim(session.writer(runId, 1, 2));
      equal(await session.say(writer, 3, 'zombie'), { kind: 'fenced' });
      equal(textIn(await session.log()), 'kept');
      equal((await session.messages('stream_resync')).length, 1);
    });

    it('an attempt that goes on writing is withdrawn as well', async (setup) => {
      const { streamManager, session } = setup;
      const { runId, writer } = await session.claimed();
      const words = Array.from({ length: 50 }, () => textChunk('gone'));
      let batch = 0;
      const append = async (): Promise<string> => {
        batch += 1;
        return (await streamManager.append(writer, batch, words)).kind;
      };
      while (batch < 120) await append();
      const goesOn = (async () => {
        for (;;) {
          const kind = await append();
          if (kind !== 'appended') return kind;
          await new Promise((resolve) => setTimeout(resolve, 4));
        }
      })();
      includes(await session.claim(session.writer(runId, 1, 2)), { kind: 'claimed' });
      equal(await goesOn, 'fenced');
      equal(textIn(await session.log()), '');
    });

    it('a session is erased with all its sub-agents', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, SUB_AGENTS, () => []);
      includes(await store.sessions.read(childAt(tree, SUB_AGENTS - 1).driver.id), {
        status: 'starting',
      });
      // A sub-agent goes only with its conversation.
      await store.sessions.erase(childAt(tree, 0).driver.id);
      includes(await childAt(tree, 0).driver.record(), { status: 'starting' });
      await store.sessions.erase(tree.root.id);
      for (const { ref } of tree.children) {
        equal(await store.sessions.read(ref.sessionId), undefined);
        equal(await store.sessions.rows(ref.sessionId, 0), []);
      }
    });
  });
}
