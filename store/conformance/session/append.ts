import { equal, includes } from '../assertions.js';
import { server, textChunk, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function appendCases({ describe, it }: Suite): void {
  describe('append', () => {
    it('entries are numbered from 1 without gaps, and the reply has the last number', async (setup) => {
      const { session, streamManager } = setup;
      const { writer } = await session.speaking();
      equal(await session.say(writer, 1, 'a'), {
        kind: 'appended',
        sequence: 1,
        stopRequested: false,
      });
      const chunks = ['b', 'c', 'd'].map((text) => textChunk(text));
      includes(await streamManager.append(writer, 2, chunks), { sequence: 4 });
      equal(
        (await session.log()).map(({ sequence, writer: name }) => [sequence, name]),
        [1, 2, 3, 4].map((n) => [n, 'm1']),
      );
    });

    it('a batch that was stored before gets its first reply and writes nothing', async (setup) => {
      const { session } = setup;
      const { writer } = await session.speaking();
      const first = await session.say(writer, 1, 'once');
      equal(await session.say(writer, 1, 'once'), first);
      await session.say(writer, 2, ', twice');
      includes(await session.say(writer, 2, ', twice', 2), { sequence: 2 });
      equal(textIn(await session.log()), 'once, twice');
    });

    it('many concurrent copies of a batch are stored once', async (setup) => {
      const { session, another } = setup;
      const { writer } = await session.speaking();
      const other = (await another()).streamManager;
      const chunk = [textChunk('once')];
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? setup.streamManager : other).append(writer, 1, chunk),
        ),
      );
      equal(new Set(replies.map((reply) => JSON.stringify(reply))).size, 1);
      equal(textIn(await session.log()), 'once');
    });

    it('even a repeated batch is superseded once the run was ended elsewhere', async (setup) => {
      const { session } = setup;
      const { runId, writer } = await session.speaking();
      await session.say(writer, 1, 'x');
      await session.end(runId, 'interrupted');
      // The claim was deleted with the run, so the store can only refuse.
      equal(await session.say(writer, 1, 'x'), { kind: 'superseded' });
      equal(textIn(await session.log()), 'x');
    });

    it('an append without a claim, or after the commit, is refused', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
      await session.claim(writer);
      await session.commit(writer, { calls: [], final: undefined });
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
    });

    it('a writer that has seen more than the store holds gets rewound, and nothing is written', async (setup) => {
      const { session } = setup;
      const { writer } = await session.speaking();
      await session.say(writer, 1, 'x');
      equal(await session.say(writer, 2, 'y', 9), { kind: 'rewound' });
      // A batch between them was lost by the store.
      equal(await session.say(writer, 3, 'z', 1), { kind: 'rewound' });
      equal(textIn(await session.log()), 'x');
    });

    it('sequences continue over turns', async ({ session }) => {
      for (let turn = 1; turn <= 3; turn += 1) {
        const { runId, startSequence } = await session.newRun();
        const writer = session.writer(runId, 1, 1);
        await session.claim(writer);
        includes(await session.say(writer, 1, 'x'), { sequence: startSequence + 1 });
        await session.commit(writer);
      }
      const sequences = (await session.log()).map(({ sequence }) => sequence);
      equal(
        sequences,
        sequences.map((_, n) => n + 1),
      );
    });

    it('entries of a tool are stored beside those of others, under its writer name', async (setup) => {
      const { session } = setup;
      const { runId } = await session.asked(server('s'));
      const tool = session.callWriter(runId, 1, 's', 1);
      equal(await session.say(tool, 1, 'early'), { kind: 'fenced' });
      await session.start(runId, 1, 's');
      includes(await session.say(tool, 1, 'working'), { kind: 'appended' });
      equal((await session.log()).at(-1)?.writer, 't:s');
    });
  });
}
