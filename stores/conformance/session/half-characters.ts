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

    it('become a replacement in deltas as well: who cuts a text carries them over', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, `a ${HALF}`);
      await session.say(writer, 2, '\ude42 b');
      equal(textIn(await session.log()), 'a \ufffd\ufffd b');
    });

    it('end no step: what its calls came to is there after a rewind to it', async ({
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
      await session.finishCall(runId, 1, 'c1', { told: HALF });
      await session.ask(runId, 2, []);
      await session.end(runId, 'interrupted');
      const { checkpoints } = await store.checkpoints.list(session.id);
      await session.rewindTo(checkpoints.at(-1)?.id ?? 'none');
      includes(await session.messages('tool_end'), [{ result: { told: '\ufffd' } }]);
      includes((await store.sessions.rows(session.id, 0)).at(-1), { toolCallId: 'c1' });
    });

    it('are withdrawn like any others', async ({ streamManager, session }) => {
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
