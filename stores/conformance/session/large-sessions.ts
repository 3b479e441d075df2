import { equal, includes } from '../assertions.js';
import { AGENT, newCall, textChunk, textIn, userMessage } from '../fixtures.js';
import type { Writer } from '../../contract/log.js';
import type { Case, Suite } from '../suite.js';
import { childAt, grow } from '../tree.js';
import { conclude, playTurn } from './played-turns.js';

/** More than a store does at once. */
const ENTRIES = 900;
const MESSAGES = 320;
const SUB_AGENTS = 30;

/** So many words of a writer, and in their middle one of somebody else. */
async function sayMuch({ streamManager, session }: Case, writer: Writer): Promise<void> {
  const beside = await streamManager.createWriter(session.id, session.id, AGENT);
  const words = Array.from({ length: ENTRIES / 2 }, () => textChunk('gone'));
  await streamManager.append(writer, 1, words);
  await beside.write(textChunk('kept'));
  await streamManager.append(writer, 2, words);
}

async function speaker({ session }: Case): Promise<{ runId: string; writer: Writer }> {
  const { runId } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  return { runId, writer };
}

/** What takes more than one call: the whole of it is done, or looks as if it had not begun. */
export function largeSessionCases({ describe, it }: Suite): void {
  describe('a large session', () => {
    it('forgets all that a lost attempt at a step said, and nothing else', async (given) => {
      const { session } = given;
      const { runId, writer } = await speaker(given);
      await sayMuch(given, writer);
      includes(await session.claim(session.writer(runId, 1, 2)), { kind: 'claimed' });
      equal(textIn(await session.log()), 'kept');
      equal((await session.messages('step_discarded')).length, 1);
      equal(await session.say(writer, 3, 'zombie'), { kind: 'fenced' });
    });

    it('forgets all that a lost attempt at a call said, and nothing else', async (given) => {
      const { session } = given;
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
      await session.start(runId, 1, 's', 1);
      await sayMuch(given, session.callWriter(runId, 1, 's', 1));
      includes(await session.start(runId, 1, 's', 2), { kind: 'execute', execution: 2 });
      equal(textIn(await session.log()), 'kept');
      equal((await session.messages('stream_resync')).length, 1);
    });

    it('forgets all that an attempt said whose provider failed', async (given) => {
      const { store, session } = given;
      const { writer } = await speaker(given);
      await sayMuch(given, writer);
      const discard = { writer, failure: 1, reason: 'x', now: 1 };
      equal(await store.steps.discard(discard), { kind: 'discarded', failures: 1 });
      equal(textIn(await session.log()), 'kept');
    });

    it('forgets all that a lost writer of no run said', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      const words = Array.from({ length: ENTRIES }, () => writer.write(textChunk('gone')));
      await Promise.all(words);
      await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x', attempt: 2 });
      equal(textIn(await streamManager.read(streamId, 0, 10_000)), '');
    });

    it('takes back all of a step that nothing came of, and nothing else', async (given) => {
      const { session } = given;
      const { runId, writer } = await speaker(given);
      await sayMuch(given, writer);
      await session.stop();
      await session.end(runId, 'interrupted');
      includes(await session.resume(), { kind: 'resumed' });
      equal(textIn(await session.log()), 'kept');
    });

    it('takes back no words of the steps before', async (given) => {
      const { session } = given;
      const { runId, writer } = await speaker(given);
      await session.say(writer, 1, 'said, ');
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
      await session.commit(writer, { calls: [newCall('c', 'server', { row })] });
      const lost = session.writer(runId, 2, 1);
      await session.claim(lost);
      await sayMuch(given, lost);
      await session.stop();
      await session.end(runId, 'interrupted');
      includes(await session.resume(), { run: { from: { step: 1 } } });
      equal(textIn(await session.log()), 'said, kept');
    });

    it('is taken back whole', async (given) => {
      const { session, streamManager } = given;
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

    it('knows nothing of the messages and calls that it was taken back behind', async (given) => {
      const { store, session } = given;
      await playTurn(session, 'u1');
      const asked = await session.newRun('u2');
      await session.ask(asked.runId, 1, [newCall('p', 'client', { deadlineMs: 0 })]);
      await session.expire(asked.runId, 'p');
      await conclude(session, asked, 2);
      const ids = Array.from({ length: MESSAGES }, (_, n) => `m${String(n)}`);
      const begun = await session.begin({ messages: ids.map((id) => userMessage(id)) });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await conclude(session, begun.run, 1);
      equal(await store.sessions.acceptedMessages(session.id, ['u1', ...ids]), ['u1', ...ids]);

      const rewound = await session.retry({ messageId: 'u1' });
      if (rewound.kind !== 'rewound') throw new Error(rewound.kind);
      equal(await store.sessions.acceptedMessages(session.id, ['u1', 'u2', ...ids]), ['u1']);
      const already = { kind: 'already_completed' };
      equal(await session.answer(asked.runId, 'p', { output: 'at last' }), already);
      // They may be sent again, and wait like any others.
      includes(await session.enqueue('m0'), { kind: 'queued' });
      equal(await store.sessions.acceptedMessages(session.id, ['m0', 'm1']), ['m0']);
      equal(await session.enqueue('m0'), { kind: 'accepted' });
      await conclude(session, rewound.run, 1);
      includes(await session.beginNext(), { kind: 'begun' });
      equal(
        (await store.sessions.rows(session.id, 2)).map((row) => row.role === 'user' && row.id),
        ['m0'],
      );
    });

    it('is truncated whole', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('kept', 1));
      const words = Array.from({ length: ENTRIES }, () => writer.write(textChunk('gone', 2)));
      await Promise.all(words);
      equal(await streamManager.cleanupToStep(streamId, 1), ENTRIES);
      equal(textIn(await streamManager.read(streamId, 0, 10_000)), 'kept');
    });

    it('is erased with all its sub-agents', async (given) => {
      const { store } = given;
      const tree = await grow(given, SUB_AGENTS, () => []);
      includes(await store.sessions.read(childAt(tree, SUB_AGENTS - 1).driver.id), {
        status: 'starting',
      });
      await store.sessions.erase(tree.root.id);
      for (const { ref } of tree.children) {
        equal(await store.sessions.read(ref.sessionId), undefined);
        equal(await store.sessions.rows(ref.sessionId, 0), []);
      }
    });
  });
}
