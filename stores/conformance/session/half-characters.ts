import { equal, includes } from '../assertions.js';
import { assistantRow, newCall, textIn, userMessage } from '../fixtures.js';
import type { Suite } from '../suite.js';

/** Half of a surrogate pair: models and tools may cut text anywhere. */
const HALF = '\ud83d';

export function halfCharacterCases({ describe, it }: Suite): void {
  describe('lone surrogates', () => {
    it('lone surrogates are stored as a replacement character, and the session continues', async ({
      store,
      session,
    }) => {
      const begun = await session.begin({ messages: [userMessage('u1', `cut ${HALF}`)] });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      const { runId } = begun.run;
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, `text ${HALF}`);
      const calls = [newCall('c1', 'server', { input: { [`k${HALF}`]: '\\ud83d' } })];
      const row = { ...assistantRow(writer, calls), messageId: begun.run.messageId };
      row.parts.unshift({ type: 'text', text: `text ${HALF}` });
      await session.commit(writer, { row, calls });
      await session.start(runId, 1, 'c1');
      await session.finishCall(runId, 1, 'c1', { note: HALF });
      await session.stop({ mode: 'interrupt', reason: `because ${HALF}` });
      await session.claim(session.writer(runId, 2, 2));
      await session.end(runId, 'interrupted');
      includes(await session.retry(), { kind: 'rewound' });
      includes(await store.sessions.rows(session.id, 0), [
        { id: 'u1', parts: [{ type: 'text', text: 'cut \ufffd' }] },
      ]);
    });

    it('lone surrogates are replaced in deltas too: a writer that cuts text must carry them over', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, `a ${HALF}`);
      await session.say(writer, 2, '\ude42 b');
      equal(textIn(await session.log()), 'a \ufffd\ufffd b');
    });

    it('lone surrogates do not break a rewind to a step with such results', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const first = session.writer(runId, 1, 1);
      await session.claim(first);
      await session.commit(first, { calls: [newCall('c1', 'server')] });
      await session.start(runId, 1, 'c1');
      const tool = session.callWriter(runId, 1, 'c1', 1);
      await session.say(tool, 1, `from the tool ${HALF}`);
      await session.finishCall(runId, 1, 'c1', { note: HALF });
      await session.ask(runId, 2, []);
      await session.end(runId, 'interrupted');
      const { checkpoints } = await store.checkpoints.list(session.id);
      await session.rewindTo(checkpoints.at(-1)?.id ?? 'none');
      includes(await session.messages('tool_end'), [{ result: { note: '\ufffd' } }]);
      includes((await store.sessions.rows(session.id, 0)).at(-1), { toolCallId: 'c1' });
    });

    it('lone surrogates do not prevent withdrawal', async ({ streamManager, session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, HALF);
      await session.say(writer, 2, '\ude42');
      await session.end(runId, 'failed');
      await streamManager.cleanupToStep(session.id, 0);
      equal(textIn(await session.log()), '');
    });
  });
}
