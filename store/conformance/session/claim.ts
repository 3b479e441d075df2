import { ok } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import { approval, server, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function claimCases({ describe, it }: Suite): void {
  describe('claim', () => {
    it('a claim makes run and stream active and returns the number of rows', async (setup) => {
      const { session } = setup;
      const { runId, messageId } = await session.newRun();
      includes(await session.claim(session.writer(runId, 1, 5)), {
        kind: 'claimed',
        rowCount: 1,
        sequence: 0,
        failures: 0,
        messageId,
      });
      includes(await session.record(), {
        status: 'running',
        stream: 'active',
        claimedStep: 1,
      });
    });

    it("a lower token is refused, and so is its writer's next write", async ({ session }) => {
      const { runId } = await session.newRun();
      const [old, young] = [session.writer(runId, 1, 5), session.writer(runId, 1, 6)];
      await session.claim(old);
      await session.say(old, 1, 'a');
      await session.claim(young);
      equal(await session.claim(old), { kind: 'fenced' });
      equal(await session.say(old, 2, 'zombie'), { kind: 'fenced' });
      equal(await session.commit(old), { kind: 'fenced' });
      equal(textIn(await session.log()), '');
    });

    it('a higher token withdraws exactly what the lower one wrote', async ({ session }) => {
      const { runId } = await session.asked(server('s'));
      await session.carryOut(runId, 1, 's', 1);
      const before = await session.log();
      const old = session.writer(runId, 2, 5);
      await session.claim(old);
      await session.say(old, 1, 'gone ');
      await session.say(old, 2, 'too');
      await session.claim(session.writer(runId, 2, 6));

      const after = await session.log();
      equal(after.slice(0, before.length), before);
      equal(
        after.slice(before.length).map(({ message, writer }) => [message.type, writer]),
        [
          ['step_discarded', ''],
          ['stream_resync', ''],
        ],
      );
      includes(await session.messages('stream_resync'), [
        {
          reason: 'crash_recovery',
          stepCount: 1,
          messageCount: 3,
          checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}`,
        },
      ]);
      // A new entry never reuses a sequence.
      await session.say(session.writer(runId, 2, 6), 1, 'new');
      equal((await session.log()).at(-1)?.sequence, (before.at(-1)?.sequence ?? 0) + 5);
    });

    it('a higher token keeps what the same step of an earlier turn wrote', async ({ session }) => {
      for (const [messageId, text] of [
        ['u1', 'first turn, '],
        ['u2', 'second turn'],
      ] as const) {
        const { runId } = await session.newRun(messageId);
        await session.claim(session.writer(runId, 1, 1));
        await session.say(session.writer(runId, 1, 1), 1, 'gone');
        const writer = session.writer(runId, 1, 2);
        await session.claim(writer);
        await session.say(writer, 1, text);
        await session.commit(writer);
      }
      equal(textIn(await session.log()), 'first turn, second turn');
    });

    it('a higher token emits no resync if there was nothing to withdraw', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 5));
      await session.claim(session.writer(runId, 1, 6));
      equal(
        (await session.log()).map(({ message }) => message.type),
        ['step_discarded'],
      );
    });

    it('a repeated claim changes nothing after the writer has written', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 5);
      const first = await session.claim(writer);
      await session.say(writer, 1, 'kept');
      includes(await session.claim(writer), { ...first, sequence: 1 });
      includes(await session.say(writer, 2, ' and more'), { kind: 'appended' });
      equal(textIn(await session.log()), 'kept and more');
      equal(await session.messages('step_discarded'), []);
    });

    it('a step cannot be claimed while a call of the step before waits', async ({ session }) => {
      const { runId } = await session.asked(approval('a'));
      equal(await session.claim(session.writer(runId, 2, 1)), { kind: 'not_ready' });
      await session.decide(runId, 'a', true);
      equal(await session.claim(session.writer(runId, 2, 1)), { kind: 'not_ready' });
      await session.carryOut(runId, 1, 'a', 1);
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed', rowCount: 3 });
    });

    it('results enter the transcript once, in the order of the calls', async ({ session }) => {
      const { runId } = await session.asked(server('x'), server('y'));
      for (const id of ['y', 'x']) {
        await session.start(runId, 1, id);
        await session.finishCall(runId, 1, id, `result of ${id}`);
      }
      await session.claim(session.writer(runId, 2, 1));
      await session.claim(session.writer(runId, 2, 2));
      includes(await session.rows(2), [
        { toolCallId: 'x', output: 'result of x' },
        { toolCallId: 'y', output: 'result of y' },
      ]);
      equal(await session.call('x'), undefined);
    });

    it('a claim distinguishes a session from an erased one with the same id', async (setup) => {
      const { store, session } = setup;
      const bornOf = async (messageId: string): Promise<string> => {
        const { runId } = await session.newRun(messageId);
        const claimed = await session.claim(session.writer(runId, 1, 1));
        if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
        equal((await session.record())?.born, claimed.born);
        return claimed.born;
      };
      const first = await bornOf('u1');
      await store.sessions.erase(session.id);
      const second = await bornOf('u1');
      ok(first !== second);
      await session.stop({ mode: 'abort' });
      const { runId } = (await session.record()) ?? { runId: '' };
      await session.end(runId, 'aborted');
      equal(await bornOf('u2'), second);
    });
  });
}
