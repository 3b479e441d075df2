import { equal, includes } from '../assertions.js';
import { newCall, textChunk, textIn } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

async function speaker({ session }: Case) {
  const { runId } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  return { runId, writer };
}

export function appendCases({ describe, it }: Suite): void {
  describe('append', () => {
    it('numbers entries from 1 without gaps and tells the number of the last one', async (given) => {
      const { session, streamManager } = given;
      const { writer } = await speaker(given);
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

    it('gives a batch that was seen before its first reply and writes nothing', async (given) => {
      const { session } = given;
      const { writer } = await speaker(given);
      const first = await session.say(writer, 1, 'once');
      equal(await session.say(writer, 1, 'once'), first);
      await session.say(writer, 2, ', twice');
      includes(await session.say(writer, 2, ', twice', 2), { sequence: 2 });
      equal(textIn(await session.log()), 'once, twice');
    });

    it('stores a batch once, though many copies of it arrive at the same moment', async (given) => {
      const { session, another } = given;
      const { writer } = await speaker(given);
      const other = (await another()).streamManager;
      const chunk = [textChunk('once')];
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? given.streamManager : other).append(writer, 1, chunk),
        ),
      );
      equal(new Set(replies.map((reply) => JSON.stringify(reply))).size, 1);
      equal(textIn(await session.log()), 'once');
    });

    it('says superseded, even to a repeated batch, once the run was ended elsewhere', async (given) => {
      const { session } = given;
      const { runId, writer } = await speaker(given);
      await session.say(writer, 1, 'x');
      await session.end(runId, 'interrupted');
      // The claim went with the run, so all that can be said is: no more.
      equal(await session.say(writer, 1, 'x'), { kind: 'superseded' });
      equal(textIn(await session.log()), 'x');
    });

    it('is refused without a claim and after the commit', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
      await session.claim(writer);
      await session.commit(writer, { calls: [], final: undefined });
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
    });

    it('carries the stop flag', async (given) => {
      const { session } = given;
      const { writer } = await speaker(given);
      await session.stop();
      equal(await session.say(writer, 1, 'x'), {
        kind: 'appended',
        sequence: 1,
        stopRequested: true,
      });
    });

    it('writes nothing over a gap: to a writer that was told more it says rewound', async (given) => {
      const { session } = given;
      const { writer } = await speaker(given);
      await session.say(writer, 1, 'x');
      equal(await session.say(writer, 2, 'y', 9), { kind: 'rewound' });
      // A batch between was lost with what the store forgot.
      equal(await session.say(writer, 3, 'z', 1), { kind: 'rewound' });
      equal(textIn(await session.log()), 'x');
    });

    it('counts on over turns', async ({ session }) => {
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

    it('keeps every character of a chunk', async (given) => {
      const { session } = given;
      const { writer } = await speaker(given);
      const text =
        'quote " backslash \\ slash / tab \t null \u0000 emoji 👩‍👩‍👧 \u2028 lone \ufffd end';
      await session.say(writer, 1, text);
      equal(textIn(await session.log()), text);
    });

    it('of a tool stands beside what others write, under its name', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      const tool = session.callWriter(runId, 1, 's', 1);
      equal(await session.say(tool, 1, 'early'), { kind: 'fenced' });
      await session.start(runId, 1, 's');
      includes(await session.say(tool, 1, 'working'), { kind: 'appended' });
      equal((await session.log()).at(-1)?.writer, 't:s');
    });
  });
}
