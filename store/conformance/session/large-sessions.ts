import { HelixError } from '../../../protocol/errors.js';
import { equal, includes, refuses } from '../assertions.js';
import { AGENT, client, server, textChunk, textIn, userMessage } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import { conclude, playTurn } from './played-turns.js';
import type { Case, Suite } from '../suite.js';
import { childAt, grow } from '../tree.js';
import type { Writer } from '../../contract/log.js';

/** More entries than one request handles. */
const ENTRIES = 9_000;
const MESSAGES = 320;
const SUB_AGENTS = 30;

/** Writes ENTRIES words, with one of another writer in the middle. */
async function sayMuch({ streamManager, session }: Case, writer: Writer): Promise<void> {
  const beside = await streamManager.createWriter(session.id, session.id, AGENT);
  const words = Array.from({ length: ENTRIES / 2 }, () => textChunk('gone'));
  await streamManager.append(writer, 1, words);
  await beside.write(textChunk('kept'));
  await streamManager.append(writer, 2, words);
}

/** Ways to withdraw all entries of an attempt: the writer, and the withdrawing change. */
const WITHDRAWN: {
  of: string;
  begin: (session: SessionDriver) => Promise<Writer>;
  withdraw: (setup: Case, writer: Writer) => Promise<unknown>;
}[] = [
  {
    of: 'a lost attempt at a step',
    begin: async (session) => (await session.speaking()).writer,
    withdraw: async ({ session }, writer) => {
      await session.claim({ ...writer, token: 2 });
      equal(await session.say(writer, 3, 'zombie'), { kind: 'fenced' });
    },
  },
  {
    of: 'a lost attempt at a call',
    begin: async (session) => {
      const { runId } = await session.asked(server('s', { idempotent: true }));
      await session.start(runId, 1, 's', 1);
      return session.callWriter(runId, 1, 's', 1);
    },
    withdraw: ({ session }, { runId }) => session.start(runId, 1, 's', 2),
  },
  {
    of: 'an attempt whose provider failed',
    begin: async (session) => (await session.speaking()).writer,
    withdraw: ({ store }, writer) =>
      store.steps.discard({ writer, failure: 1, reason: 'x', now: 1 }),
  },
  {
    of: 'an unfinished step of a run that is resumed',
    begin: async (session) => (await session.speaking()).writer,
    withdraw: async ({ session }, { runId }) => {
      await session.stop();
      await session.end(runId, 'interrupted');
      return session.resume();
    },
  },
];

/** Cases of work that takes several requests: it is either complete or not visibly begun. */
export function largeSessionCases({ describe, it }: Suite): void {
  describe('a large session', () => {
    it('its rows are read in pages, each of which its reader is asked about', async (setup) => {
      const { store, session } = setup;
      const texts = Array.from({ length: 12 }, (_, n) => `${String(n)}${'x'.repeat(200_000)}`);
      const messages = texts.map((text, n) => userMessage(`u${String(n)}`, text));
      includes(await session.begin({ messages }), { kind: 'begun' });
      const pages: number[] = [];
      const meter = {
        take: (bytes: number) => {
          pages.push(bytes);
          return Promise.resolve();
        },
      };
      const view = await store.sessions.view(session.id, meter);
      equal(view?.rows, await session.rows());
      equal(pages.reduce((sum, bytes) => sum + bytes) > 2_400_000, true);
      equal(
        pages.every((bytes) => bytes < 1_000_000),
        true,
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

    for (const { of, begin, withdraw } of WITHDRAWN) {
      it(`everything is withdrawn, and nothing else: of ${of}`, async (setup) => {
        const { session } = setup;
        const writer = await begin(session);
        await sayMuch(setup, writer);
        await withdraw(setup, writer);
        equal(textIn(await session.log()), 'kept');
        equal((await session.messages('stream_resync')).length <= 1, true);
      });
    }

    it('an attempt that goes on writing is withdrawn as well', async (setup) => {
      const { streamManager, session } = setup;
      const { runId, writer } = await session.speaking();
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

    it('everything that a lost writer without a run wrote is withdrawn', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      const words = Array.from({ length: ENTRIES }, () => writer.write(textChunk('gone')));
      await Promise.all(words);
      await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x', attempt: 2 });
      equal(textIn(await streamManager.read(streamId, 0, 10_000)), '');
    });

    it('entries of earlier steps stay', async (setup) => {
      const { session } = setup;
      const { runId, writer } = await session.speaking();
      await session.say(writer, 1, 'early, ');
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
      await session.commit(writer, { calls: [server('c', { row })] });
      const lost = session.writer(runId, 2, 1);
      await session.claim(lost);
      await sayMuch(setup, lost);
      await session.stop();
      await session.end(runId, 'interrupted');
      includes(await session.resume(), { run: { from: { step: 1 } } });
      equal(textIn(await session.log()), 'early, kept');
    });

    it('a large session is rewound completely', async ({ session, streamManager }) => {
      await playTurn(session, 'u1');
      const before = textIn(await session.log());
      const { runId } = await session.newRun('u2');
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      const words = Array.from({ length: ENTRIES }, () => textChunk('gone'));
      await streamManager.append(writer, 1, words);
      await session.commit(writer);
      includes(await session.retry(), { kind: 'rewound', run: { turn: 2 } });
      equal(textIn(await session.log()), before);
    });

    it('messages and calls that a rewind dropped are forgotten', async ({ session }) => {
      await playTurn(session, 'u1');
      const asked = await session.newRun('u2');
      await session.ask(asked.runId, 1, [client('p', { deadlineMs: 0 })]);
      await session.expire(asked.runId, 'p');
      await conclude(session, asked, 2);
      const ids = Array.from({ length: MESSAGES }, (_, n) => `m${String(n)}`);
      const begun = await session.begin({ messages: ids.map((id) => userMessage(id)) });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await conclude(session, begun.run, 1);
      equal(await session.accepted(['u1', ...ids]), ['u1', ...ids]);

      const rewound = await session.retry({ messageId: 'u1' });
      if (rewound.kind !== 'rewound') throw new Error(rewound.kind);
      equal(await session.accepted(['u1', 'u2', ...ids]), ['u1']);
      const already = { kind: 'already_completed' };
      equal(await session.answer(asked.runId, 'p', { output: 'at last' }), already);
      // The messages may be sent again and are queued like any others.
      includes(await session.enqueue('m0'), { kind: 'queued' });
      equal(await session.accepted(['m0', 'm1']), ['m0']);
      equal(await session.enqueue('m0'), { kind: 'accepted' });
      await conclude(session, rewound.run, 1);
      includes(await session.beginNext(), { kind: 'begun' });
      equal(
        (await session.rows(2)).map((row) => row.role === 'user' && row.id),
        ['m0'],
      );
    });

    it('a large stream is truncated completely', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('kept', 1));
      const words = Array.from({ length: ENTRIES }, () => writer.write(textChunk('gone', 2)));
      await Promise.all(words);
      equal(await streamManager.cleanupToStep(streamId, 1), ENTRIES);
      equal(textIn(await streamManager.read(streamId, 0, 10_000)), 'kept');
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
