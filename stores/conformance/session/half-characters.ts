import { equal, includes } from '../assertions.js';
import { assistantRow, newCall, textIn, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

/** Half of a pair: models and tools cut text anywhere. */
const HALF = '\ud83d';

export function halfCharacterCases({ describe, it }: Suite): void {
  describe('half characters', () => {
    it('become a replacement in what is stored, and the session goes on', async ({
      store,
      session,
    }) => {
      const begun = await session.begin({ messages: [userMessage('u1', `cut ${HALF}`)] });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      const { runId } = begun.run;
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, `said ${HALF}`);
      const calls = [newCall('c1', 'server', { input: { [`k${HALF}`]: '\\ud83d' } })];
      const row = { ...assistantRow(writer, calls), messageId: begun.run.messageId };
      row.parts.unshift({ type: 'text', text: `said ${HALF}` });
      await session.commit(writer, { row, calls });
      await session.start(runId, 1, 'c1');
      await session.finishCall(runId, 1, 'c1', { told: HALF });
      await session.stop({ mode: 'interrupt', reason: `because ${HALF}` });
      await session.claim(session.writer(runId, 2, 2));
      await session.end(runId, 'interrupted');
      includes(await session.retry(), { kind: 'rewound' });
      includes(await store.sessions.rows(session.id, 0), [
        { id: 'u1', parts: [{ type: 'text', text: 'cut \ufffd' }] },
      ]);
    });

    it('stay halves in deltas, whose other half may follow', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'a \ud83d');
      await session.say(writer, 2, '\ude42 b');
      equal(textIn(await session.log()), 'a 🙂 b');
    });
  });
}
