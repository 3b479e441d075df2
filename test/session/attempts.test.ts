import { equal, includes } from '../../store/conformance/assertions.js';
import { approval, client, server, textChunk, textIn } from '../../store/conformance/fixtures.js';
import type { HandOverInput } from '../../store/contract/steps.js';
import { it } from './rules.js';

describe('attempts', () => {
  it('a step fails after five lost attempts', async ({ session }) => {
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
    // The log keeps the last attempt's text for an end that stores it.
    equal(textIn(await session.log()), 'written by 5');
    equal((await session.end(runId, 'failed')).kind, 'ended');
    const next = await session.newRun('u2');
    includes(await session.claim(session.writer(next.runId, 1, 1)), { kind: 'claimed' });
    includes(await session.record(), { status: 'running' });
  });

  it('an attempt is withdrawn whole, however much others have written between its entries', async (setup) => {
    const { session, streamManager } = setup;
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'first');
    const other = await streamManager.createWriter(session.id, 'a', 'test');
    const dots = Array.from({ length: 2_001 }, () => other.write(textChunk('.', 1, session.id)));
    await Promise.all(dots);
    await session.say(writer, 2, 'last');
    includes(await session.claim(session.writer(runId, 1, 2)), { kind: 'claimed' });
    equal(textIn(await session.log()), '.'.repeat(dots.length));
  });

  it('lost attempts are counted per step', async ({ session }) => {
    const { runId } = await session.newRun();
    for (let token = 1; token <= 5; token += 1) {
      await session.claim(session.writer(runId, 1, token));
    }
    await session.commit(session.writer(runId, 1, 5), { calls: [server('c')] });
    await session.carryOut(runId, 1, 'c', 1);
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
    includes(await session.claim(session.writer(runId, 2, 2)), { kind: 'claimed' });
  });

  it('lost attempts count for a limited time', async ({ store, session }) => {
    const { runId } = await session.newRun();
    const budget = { max: 2, withinMs: -1 };
    for (let token = 1; token <= 9; token += 1) {
      const claim = { writer: session.writer(runId, 1, token), known: 0, now: 1, budget };
      includes(await store.steps.claim(claim), { kind: 'claimed' });
    }
    const last = { writer: session.writer(runId, 1, 9), how: 'retry' } as const;
    equal(await store.steps.handOver(last), { kind: 'handed_over', lost: 1 });
  });

  it('an attempt that hands over does not count, even if one alone may be lost', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    await store.steps.handOver({ writer, how: 'left' });
    const budget = { max: 1, withinMs: 60_000 };
    const claim = { writer: session.writer(runId, 1, 2), known: 0, now: 1, budget };
    includes(await store.steps.claim(claim), { kind: 'claimed' });
  });

  const words: [HandOverInput['how'], number][] = [
    ['left', 0],
    ['retry', 0],
    ['fault', 1],
  ];
  for (const [how, lost] of words) {
    it(`an attempt that hands over (${how}) leaves ${String(lost)} lost attempts`, async (setup) => {
      const { store, session } = setup;
      const { runId, writer } = await session.claimed();
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

  it('an attempt that was judged dead is forgiven when it reports that it lives', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    for (let token = 1; token <= 12; token += 1) {
      includes(await session.claim(session.writer(runId, 1, token)), { kind: 'claimed' });
      const before = session.writer(runId, 1, token - 1);
      if (token > 1) {
        // The end of its code would not be forgiven.
        includes(await store.steps.handOver({ writer: before, how: 'fault' }), { lost: 1 });
        equal(await store.steps.handOver({ writer: before, how: 'left' }), {
          kind: 'handed_over',
          lost: 0,
        });
      }
    }
  });

  it('at most twenty attempts are forgiven, so a step that always outlives its judgement ends too', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    let token = 1;
    while ((await session.claim(session.writer(runId, 1, token))).kind === 'claimed') {
      await store.steps.handOver({ writer: session.writer(runId, 1, token - 1), how: 'left' });
      token += 1;
    }
    equal(token - 1, 25);
  });

  it('only an attempt that owns or owned the writer can hand over', async ({ store, session }) => {
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

  it('an idempotent call ends as outcome unknown after five lost attempts', async ({ session }) => {
    const { runId } = await session.asked(server('s', { idempotent: true }));
    for (let token = 1; token <= 5; token += 1) {
      includes(await session.start(runId, 1, 's', token), { kind: 'execute', execution: token });
    }
    equal(await session.start(runId, 1, 's', 6), { kind: 'settled' });
    includes(await session.messages('tool_end'), [
      { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
    ]);
  });

  it('an attempt at a call that a drain cut short is not an execution', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s', { idempotent: true }));
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

  it('a lower token is refused, and so is what its writer writes', async ({ session }) => {
    const { runId } = await session.newRun();
    const [old, young] = [session.writer(runId, 1, 5), session.writer(runId, 1, 6)];
    await session.claim(old);
    await session.claim(young);
    equal(await session.claim(old), { kind: 'fenced' });
    equal(await session.commit(old), { kind: 'fenced' });
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
});

/** Checks come in this order: done (first result), stop record, fence, expected state. */
describe('order of checks', () => {
  it('a claim checks a committed step before a stop', async ({ session }) => {
    const { runId } = await session.asked(server('s'));
    await session.carryOut(runId, 1, 's', 1);
    await session.claim(session.writer(runId, 2, 1));
    await session.stop();
    includes(await session.claim(session.writer(runId, 1, 9)), { kind: 'done' });
  });

  it('a claim checks a committed step before the end of the run, with the newest outcome', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'));
    const outcome = {
      kind: 'calls',
      step: 1,
      calls: [{ toolCallId: 's', toolName: 'server-tool', kind: 'server' }],
    };
    equal(await session.claim(session.writer(runId, 1, 9)), { kind: 'done', outcome });
    await session.carryOut(runId, 1, 's', 1);
    await session.ask(runId, 2, []);
    equal(await session.claim(session.writer(runId, 1, 10)), {
      kind: 'done',
      outcome: { kind: 'ended', step: 2, status: 'completed' },
    });
  });

  it('a claim of a committed step goes nowhere once the run was stopped', async ({ session }) => {
    const { runId } = await session.asked(server('s'));
    await session.stop();
    equal(await session.claim(session.writer(runId, 1, 9)), { kind: 'superseded' });
  });

  it('a claim checks a committed step before a store that is behind', async ({ session }) => {
    const { runId } = await session.asked(server('s'));
    includes(await session.claim(session.writer(runId, 1, 9), 999), { kind: 'done' });
  });

  it('a claim checks a missing step before waiting calls', async ({ session }) => {
    const { runId } = await session.asked(approval('a'));
    equal(await session.claim(session.writer(runId, 3, 1)), { kind: 'rewound' });
  });

  it('a claim checks a store that is behind before an unknown run', async ({ session }) => {
    const { runId } = await session.newRun();
    equal(await session.claim(session.writer(runId, 1, 1), 5), { kind: 'rewound' });
    equal(await session.claim(session.writer(`${session.id}:7-x`, 1, 1)), { kind: 'rewound' });
    equal(await session.claim(session.writer(`${session.id}:1-other`, 1, 1)), {
      kind: 'superseded',
    });
  });

  it('a commit checks a committed step before a stop, a fence and a store that is behind', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.carryOut(runId, 1, 's', 1);
    await session.claim(session.writer(runId, 2, 1));
    await session.stop();
    includes(await session.commit(session.writer(runId, 1, 1)), { kind: 'done' });
    includes(await session.commit(session.writer(runId, 1, 0), { known: 999 }), { kind: 'done' });
  });

  it('append: a stored batch comes before everything but the fence', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    const first = await session.say(writer, 1, 'x');
    equal(await session.say(writer, 1, 'x', 999), first);
    await session.claim(session.writer(runId, 1, 2));
    equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
    equal(textIn(await session.log()), '');
  });

  it('the start of a call checks a result before the end of the run, and a stop before the fence', async (setup) => {
    const { session } = setup;
    const { runId, writer } = await session.claimed();
    await session.stop();
    const calls = [server('s', { idempotent: true }), server('t')];
    await session.commit(writer, { calls, answersStop: true });
    equal(await session.start(runId, 1, 's'), { kind: 'stopped' });
    await session.end(runId, 'interrupted');
    equal(await session.start(runId, 1, 's'), { kind: 'settled' });
    await session.newRun();
    equal(await session.start(runId, 1, 's'), { kind: 'settled' });
    equal(await session.start(runId, 1, 'other'), { kind: 'superseded' });
  });

  it('settling checks a settled call before the run, and the run before the kind', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(approval('a'), client('c'));
    await session.decide(runId, 'a', true);
    const otherRun = `${session.id}:9-x`;
    equal(await session.decide(otherRun, 'c', true), { kind: 'stale_run' });
    equal(await session.decide(otherRun, 'nothing', true), { kind: 'not_pending' });
    await session.answer(runId, 'c', { output: 1 });
    equal(await session.answer(otherRun, 'c', { output: 2 }), { kind: 'already_completed' });
  });

  it('discard: a counted failure comes before the fence and the end', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const [old, young] = [session.writer(runId, 1, 1), session.writer(runId, 1, 2)];
    await session.claim(old);
    const discard = { failure: 1, reason: 'x', now: 1 };
    await store.steps.discard({ ...discard, writer: old });
    await session.claim(young);
    equal(await store.steps.discard({ ...discard, writer: old }), {
      kind: 'discarded',
      failures: 1,
    });
  });
});
