import type { StreamChunk } from '../../../protocol/chunk.js';
import { equal, includes, refuses } from '../assertions.js';
import { AGENT, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { DEEP, TOO_DEEP } from '../hostile.js';
import type { Case, Suite } from '../suite.js';
import { base, runOf, type Value } from './ways-in.js';
import { inputWays } from './ways-of-inputs.js';
import { stepWays } from './ways-of-steps.js';

export function depthCases({ describe, it }: Suite): void {
  describe('nested values', () => {
    for (const way of [...inputWays(), ...stepWays()]) {
      it(`values that are too deep are refused without a change: ${way.name}`, async (setup) => {
        const { store, session } = setup;
        await way.prepare?.(setup);
        const before = await everythingOf(setup);
        await refuses(way.give(setup, TOO_DEEP), way.code);
        equal(await everythingOf(setup), before);
        await way.give(setup, DEEP);
        equal(await way.read(setup), DEEP);
        // The session continues with the value, and is rewound.
        const runId = await runOf(setup);
        await session.stop();
        await session.end(runId, 'interrupted');
        await store.queue.begin({ sessionId: session.id, nonce: newNonce(), now: 1 });
        await session.end(await runOf(setup), 'failed');
        includes(await session.retry(), { kind: 'rewound' });
        await store.staging.promoteSettled(session.id);
      });
    }

    it('rows of a copy that are too deep are refused', async ({ store, session }) => {
      const copy = (sessionId: string, output: unknown) =>
        store.sessions.branch({
          sessionId,
          agent: AGENT,
          owner: 'ann',
          nonce: newNonce(),
          rows: [userMessage('u1').row, { role: 'tool', toolCallId: 'c', toolName: 't', output }],
          messages: [],
          turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
          visibleMessages: 1,
          now: 1,
        });
      const other = newSessionId();
      await refuses(copy(other, TOO_DEEP), 'validation_error');
      equal(await store.sessions.read(other), undefined);
      equal(await copy(session.id, DEEP), { kind: 'branched' });
      includes((await store.sessions.rows(session.id, 1))[0], { output: DEEP });
      includes(await session.retry(), { kind: 'rewound' });
    });

    it('changes never make a state too deep together, nor delay a run', async ({
      store,
      session,
    }) => {
      await session.newRun();
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'a',
        patches: [{ op: 'add', path: '/a', value: DEEP }],
      });
      await refuses(store.staging.promote(session.id, 's1'), 'invalid_patch');
      equal((await store.staging.promoteSettled(session.id)).customState, {});
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'b',
        patches: [{ op: 'add', path: '/b', value: 1 }],
      });
      equal((await store.staging.promoteSettled(session.id)).customState, { b: 1 });
    });

    it('values that JSON cannot express are refused', async (setup) => {
      const { store, streamManager, session } = setup;
      const { runId } = await session.newRun();
      const circle: Value = {};
      circle['again'] = circle;
      const writer = session.writer(runId, 1, 1);
      for (const value of [circle, { n: 1n }] as Value[]) {
        const save = store.documents.save(session.id, { customState: value, version: 0 });
        await refuses(save, 'validation_error');
        const chunk: StreamChunk = { type: 'custom', ...base(setup), eventName: 'e', data: value };
        await refuses(streamManager.append(writer, 1, [chunk], 0), 'invalid_chunk');
      }
      const nothing = { toJSON: () => undefined };
      const save = store.documents.save(session.id, { customState: nothing, version: 0 });
      await refuses(save, 'validation_error');
      equal((await store.documents.readState(session.id)).version, 0);
      equal(await session.log(), []);
    });
  });
}

async function everythingOf({ store, session }: Case): Promise<unknown> {
  const view = await store.sessions.view(session.id);
  if (view === undefined) return undefined;
  const state = await store.documents.readState(session.id);
  return { view, state, log: await session.log() };
}
