import { equal, includes, refuses } from '../assertions.js';
import { textChunk, textOf } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import type { Writer } from '../../contract/log.js';

interface Opened {
  session: SessionDriver;
  writer: Writer;
}

/** A store may send appends of several sessions together; each keeps its own outcome. */
export function appendsAtOnceCases({ describe, it }: Suite): void {
  describe('appends of several sessions at once', () => {
    it('each has an outcome of its own', async (stores) => {
      const [fine, stopped, fenced, superseded, repeated, tooLarge] = await Promise.all([
        ...([open(stores), open(stores), open(stores)] as const),
        ...([open(stores), open(stores), open(stores)] as const),
      ]);
      const first = await say(repeated, 1, 'once');
      await stopped.session.stop();
      await fenced.session.claim({ ...fenced.writer, token: 2 });
      await superseded.session.end(superseded.writer.runId, 'failed');
      const long = textChunk('x'.repeat(300_000), 1, tooLarge.session.id);

      const [ofFine, ofStopped, ofFenced, ofSuperseded, ofRepeated] = await Promise.all([
        ...([say(fine, 1, 'a'), say(stopped, 1, 'b'), say(fenced, 1, 'c')] as const),
        ...([say(superseded, 1, 'd'), say(repeated, 1, 'once')] as const),
        refuses(stores.streamManager.append(tooLarge.writer, 1, [long]), 'chunk_too_large'),
      ]);
      includes(ofFine, { kind: 'appended', stopRequested: false });
      includes(ofStopped, { kind: 'appended', stopRequested: true });
      equal(ofFenced, { kind: 'fenced' });
      equal(ofSuperseded, { kind: 'superseded' });
      equal(ofRepeated, first);

      // What was refused took no number, and what was stored is continued.
      await Promise.all([say(fine, 2, 'e'), say(repeated, 2, ' more'), say(tooLarge, 1, 'f')]);
      const texts = [fine, stopped, fenced, superseded, repeated, tooLarge].map(textIn);
      equal(await Promise.all(texts), ['ae', 'b', '', '', 'once more', 'f']);
    });

    it('batches of one writer are stored in their order', async (stores) => {
      const both = await Promise.all([open(stores), open(stores)]);
      const batches = Array.from({ length: 50 }, (_, at) => at + 1);
      const replies = await Promise.all(
        batches.flatMap((batch) => both.map((each) => say(each, batch, `${String(batch)} `))),
      );
      equal(new Set(replies.map(({ kind }) => kind)).size, 1);
      const text = batches.map((batch) => `${String(batch)} `).join('');
      equal(await Promise.all(both.map(textIn)), [text, text]);
    });
  });
}

async function open(stores: Case): Promise<Opened> {
  const session = drive(stores);
  const { writer } = await session.speaking();
  return { session, writer };
}

function say({ session, writer }: Opened, batch: number, text: string) {
  return session.say(writer, batch, text);
}

async function textIn({ session }: Opened): Promise<string> {
  return textOf((await session.log()).map(({ message }) => message));
}
