import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

const FIRST = { inputTokens: 100, outputTokens: 20, cachedTokens: 60, costMicroUsd: 250 };
const SECOND = { inputTokens: 150, outputTokens: 5, cacheWriteTokens: 40, reasoningTokens: 3 };
const BOTH = { ...FIRST, ...SECOND, inputTokens: 250, outputTokens: 25 };
/** Values that Lua would change when decoding and encoding them. */
const OUTPUT = { list: [], object: {}, n: 1_234_567_890_123_456, deep: [[null]], text: 'ä"\n' };

/** Usage and result of a run. */
export function resultCases({ describe, it }: Suite): void {
  describe('usage', () => {
    it('usage of steps and discarded attempts is added up, once each', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      const claimed = await session.claim(writer);
      equal('usage' in claimed, false);
      equal((await store.sessions.read(session.id))?.usage, undefined);
      const failure = { writer, failure: 1, reason: 'provider_error', usage: FIRST, now: 1 };
      await store.steps.discard(failure);
      await store.steps.discard(failure);
      const asked = { calls: [newCall('x', 'server')], usage: SECOND };
      await session.commit(writer, { ...asked, finishReason: 'tool-calls' });
      await session.commit(writer, asked);
      includes(await store.sessions.read(session.id), { usage: BOTH, finishReason: 'tool-calls' });
      includes(await store.runs.current(session.id), { usage: BOTH, finishReason: 'tool-calls' });
      await session.start(runId, 1, 'x');
      await session.finishCall(runId, 1, 'x', 1);
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed', usage: BOTH });
    });

    it('usage belongs to its run', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer, { usage: FIRST, finishReason: 'length' });
      await session.newRun();
      includes(await store.runs.list(session.id), [{ usage: FIRST, finishReason: 'length' }, {}]);
      const record = await store.sessions.read(session.id);
      equal([record?.usage, record?.finishReason], [undefined, undefined]);
    });
  });

  describe('output', () => {
    it('the output is written by the transition that ends the run, after the results of its siblings', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer, { calls: [newCall('x', 'server')], output: OUTPUT });
      equal(await session.messages('output'), []);
      equal((await store.sessions.read(session.id))?.output, OUTPUT);
      await session.start(runId, 1, 'x');
      await session.finishCall(runId, 1, 'x', 1);
      await session.end(runId, 'completed');
      const types = (await session.log()).map(({ message }) => message.type);
      equal(types.slice(-3), ['tool_end', 'output', 'stream_end']);
      equal(
        (await session.messages('output')).map(({ output }) => output),
        [OUTPUT],
      );
      equal(
        (await session.messages('stream_end')).map((end) => end.finalOutput),
        [OUTPUT],
      );
      equal((await store.runs.current(session.id))?.output, OUTPUT);
    });

    it('the output of a step that ends the run is written at once and may be null', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer, { output: null });
      equal(
        (await session.messages('output')).map(({ output }) => output),
        [null],
      );
      equal((await store.sessions.read(session.id))?.output, null);
      await session.newRun();
      equal('output' in ((await store.sessions.read(session.id)) ?? {}), false);
    });

    it('the output is kept however the run ends', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer, { calls: [newCall('c', 'client')], output: OUTPUT });
      await session.stop();
      equal((await session.messages('output')).length, 1);
      includes(await session.messages('stream_end'), [{ status: 'interrupted' }]);
    });
  });
}
