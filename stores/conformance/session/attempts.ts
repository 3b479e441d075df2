import type { HandOverInput } from '../../contract/steps.js';
import { equal, includes } from '../assertions.js';
import { newCall, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function attemptCases({ describe, it }: Suite): void {
  describe('attempts', () => {
    it('a step fails after five lost attempts', async ({ store, session }) => {
      const { runId } = await session.newRun();
      for (let token = 1; token <= 5; token += 1) {
        const writer = session.writer(runId, 1, token);
        includes(await session.claim(writer), { kind: 'claimed' });
        // A repeated request is the same attempt.
        includes(await session.claim(writer), { kind: 'claimed' });
        await session.say(writer, 1, `written by ${String(token)}`);
      }
      const sixth = session.writer(runId, 1, 6);
      equal(await session.claim(sixth), { kind: 'exhausted' });
      equal(await session.claim(sixth), { kind: 'exhausted' });
      // The text of the last attempt is still in the log, for the end that keeps it.
      equal(textIn(await session.log()), 'written by 5');
      equal((await session.end(runId, 'failed')).kind, 'ended');
      const next = await session.newRun('u2');
      includes(await session.claim(session.writer(next.runId, 1, 1)), { kind: 'claimed' });
      includes(await store.sessions.read(session.id), { status: 'running' });
    });

    it('lost attempts are counted per step', async ({ session }) => {
      const { runId } = await session.newRun();
      for (let token = 1; token <= 5; token += 1) {
        await session.claim(session.writer(runId, 1, token));
      }
      await session.commit(session.writer(runId, 1, 5), { calls: [newCall('c', 'server')] });
      await session.start(runId, 1, 'c');
      await session.finishCall(runId, 1, 'c', 1);
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
      includes(await session.claim(session.writer(runId, 2, 2)), { kind: 'claimed' });
    });

    it('lost attempts count for a limited time', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const budget = { most: 2, withinMs: -1 };
      for (let token = 1; token <= 9; token += 1) {
        const claim = { writer: session.writer(runId, 1, token), known: 0, now: 1, budget };
        includes(await store.steps.claim(claim), { kind: 'claimed' });
      }
    });

    const words: [HandOverInput['how'], number][] = [
      ['left', 0],
      ['retry', 0],
      ['fault', 1],
    ];
    for (const [how, lost] of words) {
      it(`an attempt that hands over (${how}) leaves ${String(lost)} lost attempts`, async ({
        store,
        session,
      }) => {
        const { runId } = await session.newRun();
        const writer = session.writer(runId, 1, 1);
        await session.claim(writer);
        equal(await store.steps.handOver({ writer, how }), { kind: 'handed_over', lost });
        equal(await store.steps.handOver({ writer, how }), { kind: 'handed_over', lost });
        const second = session.writer(runId, 1, 2);
        includes(await session.claim(second), { kind: 'claimed' });
        equal(await store.steps.handOver({ writer: second, how: 'left' }), {
          kind: 'handed_over',
          lost,
        });
      });
    }

    it('an attempt that was judged dead is forgiven when it reports that it lives', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      for (let token = 1; token <= 12; token += 1) {
        includes(await session.claim(session.writer(runId, 1, token)), { kind: 'claimed' });
        const before = session.writer(runId, 1, token - 1);
        if (token > 1) {
          equal(await store.steps.handOver({ writer: before, how: 'left' }), {
            kind: 'handed_over',
            lost: 0,
          });
        }
      }
    });

    it('at most twenty attempts are forgiven, so a step that always outlives its judgement ends too', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      let token = 1;
      while ((await session.claim(session.writer(runId, 1, token))).kind === 'claimed') {
        await store.steps.handOver({ writer: session.writer(runId, 1, token - 1), how: 'left' });
        token += 1;
      }
      equal(token - 1, 25);
    });

    it('only an attempt that owns or owned the writer can hand over', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 3);
      equal(await store.steps.handOver({ writer, how: 'left' }), { kind: 'not_owner' });
      await session.claim(writer);
      const other = { ...writer, runId: 'another' };
      equal(await store.steps.handOver({ writer: other, how: 'left' }), { kind: 'superseded' });
      await session.end(runId, 'failed');
      equal(await store.steps.handOver({ writer, how: 'left' }), { kind: 'superseded' });
    });

    it('the output of a lost attempt is charged', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const claim = (token: number): Promise<unknown> =>
        store.steps.claim({
          writer: session.writer(runId, 1, token),
          known: 0,
          now: 1,
          perToken: 2.5,
        });
      await claim(1);
      await session.say(session.writer(runId, 1, 1), 1, 'x'.repeat(40));
      const usage = { inputTokens: 0, outputTokens: 10, costMicroUsd: 25 };
      includes(await claim(2), { usage });
      includes(await claim(2), { usage });
      includes(await claim(3), { usage });
      await session.say(session.writer(runId, 1, 3), 1, 'ж'.repeat(2));
      includes(await claim(4), { usage: { ...usage, outputTokens: 11, costMicroUsd: 28 } });
    });

    it('an idempotent call ends as outcome unknown after five lost attempts', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
      for (let token = 1; token <= 5; token += 1) {
        includes(await session.start(runId, 1, 's', token), { kind: 'execute', execution: token });
      }
      equal(await session.start(runId, 1, 's', 6), { kind: 'settled' });
      includes(await session.messages('tool_end'), [
        { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
      ]);
    });

    it('an attempt at a call that a drain cut short is not an execution', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
      for (let token = 1; token <= 8; token += 1) {
        includes(await session.start(runId, 1, 's', token), { kind: 'execute', execution: 1 });
        const writer = session.callWriter(runId, 1, 's', token);
        await store.steps.handOver({ writer, toolCallId: 's', how: 'left' });
        await store.steps.handOver({ writer, toolCallId: 's', how: 'left' });
      }
      const retried = session.callWriter(runId, 1, 's', 9);
      includes(await session.start(runId, 1, 's', 9), { execution: 1 });
      await store.steps.handOver({ writer: retried, toolCallId: 's', how: 'retry' });
      includes(await session.start(runId, 1, 's', 10), { kind: 'execute', execution: 2 });
    });
  });
}
