import { numberOf, tokenOf, type Lease } from '../../activities/lease.js';
import { sleep } from '../../protocol/time.js';
import { changing } from '../support/session-driver.js';
import type { HeldWork } from '../../store/contract/leases.js';
import { attemptOf, createHarness, openHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { fakeTool } from '../support/fake-tool.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

const NOW = 1_700_000_000_000;

/** A lease that notes what is done with it. */
function openLease() {
  const noted: string[] = [];
  const state = { isHeld: true, stop: (_: string): void => undefined };
  const held: HeldWork[] = [];
  const lease: Lease = {
    isHeld: () => state.isHeld,
    onStop: (_, listener) => {
      state.stop = listener;
      return () => undefined;
    },
    hold: (work) => {
      held.push(work);
      return {
        registered: sleep(50).then(() => {
          noted.push('registered');
        }),
        executing: () => () => undefined,
        becomePatient: () => ({
          noted: sleep(50).then(() => {
            noted.push('patient');
          }),
          end: () => noted.push('impatient'),
        }),
        note: (progress) => noted.push(`notes ${JSON.stringify(progress)}`),
        release: () => noted.push('released'),
      };
    },
  };
  return { lease, noted, held, state };
}

describe('the token of an attempt that replaces a lost one', () => {
  it('is higher than the lost one, also when the clock of the server steps back', () => {
    const at = (ms: number, attempt = 1) => ({ attempt, currentAttemptScheduledTimestampMs: ms });
    const token = tokenOf(at(NOW));
    const replaces = { token, number: 1 };
    expect(tokenOf(at(NOW + 1), { replaces })).toBe((NOW + 1) * 1000 + 1);
    const [next, further] = [at(NOW - 60_000), at(NOW - 59_000, 2)].map((info) =>
      tokenOf(info, { replaces }),
    );
    expect([next, further]).toEqual([token + 1000, token + 2000]);
  });

  it('its number counts the lost attempts', () => {
    expect(numberOf({ attempt: 2 })).toBe(2);
    expect(numberOf({ attempt: 1 }, { replaces: { token: 5, number: 3 } })).toBe(4);
  });
});

describe('an attempt under a lease', () => {
  it('is registered before its claim, and removed when it has ended', async () => {
    const { lease, noted, held } = openLease();
    const model = fakeModel(async function* () {
      noted.push('the model is asked');
      yield* parts.says('hi');
      await Promise.resolve();
    });
    const stores = await openTestStores();
    const store = changing(stores.store, (changes) => {
      const { steps } = changes;
      const claim: typeof steps.claim = (input) => {
        noted.push('claimed');
        return steps.claim(input);
      };
      return { ...changes, steps: { ...steps, claim } };
    });
    const watched = { ...stores, store };
    const { begin, step } = createHarness(watched, { model, lease });
    const run = await begin();
    await step(run, 1, 1, undefined, { isLeased: true });
    expect(noted).toEqual(['registered', 'claimed', 'the model is asked', 'released']);
    expect(held).toMatchObject([{ token: (NOW + 1_000) * 1000 + 1, number: 1 }]);
    expect(held[0]?.taskToken).toBeTruthy();
  });

  it('does not begin in a worker whose lease has lapsed', async () => {
    const { lease, noted, state } = openLease();
    const { begin, step } = await openHarness(() => parts.says('hi'), { lease });
    const run = await begin();
    state.isHeld = false;
    const attempt = step(run, 1, 1, undefined, { isLeased: true });
    await expect(attempt).rejects.toMatchObject({ type: 'StoreUnreachable' });
    expect(noted).toEqual([]);
  });

  it('is reported as lost by a worker that shuts down, and does not count as such', async () => {
    const environment = attemptOf(1);
    const { lease } = openLease();
    const { begin, step, session, stores } = await openHarness(
      async function* (_, { abortSignal }) {
        yield* parts.text('hi');
        environment.cancel('WORKER_SHUTDOWN');
        await new Promise((resolve) => {
          abortSignal?.addEventListener('abort', resolve);
          if (abortSignal?.aborted === true) resolve(undefined);
        });
        throw new Error('cut');
      },
      { lease },
    );
    const run = await begin();
    const token = (NOW + 1_000) * 1000 + 1;
    expect(await step(run, 1, 1, environment, { isLeased: true })).toEqual({
      kind: 'lost',
      token,
      number: 1,
    });
    const writer = await stores.redis.hget(`hx:{${session.id}}:writers`, 'w:m1');
    expect(JSON.parse(writer ?? '{}')).toMatchObject({ token, handedOver: token });
  });

  it('is cut by a stop that only a renewal of its lease brings', async () => {
    const { lease, state } = openLease();
    const stores = await openTestStores();
    let isAsked = false;
    const model = fakeModel(async function* (_, { abortSignal }) {
      isAsked = true;
      await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
      yield* parts.text('hi');
    });
    // Every message is lost.
    const onStop = () => Promise.resolve(() => undefined);
    const deaf = { ...stores, streamManager: { ...stores.streamManager, onStop } };
    const { begin, step, session } = createHarness(deaf, { model, lease });
    const run = await begin();
    const attempt = step(run, 1, 1, undefined, { isLeased: true });
    await until('the model is asked', () => isAsked);
    await session.stop();
    state.stop('another run');
    state.stop(run.runId);
    expect(await attempt).toMatchObject({ kind: 'ended', status: 'interrupted' });
  });

  it('leaves its successor the table of a leg, with each step and call', async () => {
    const { lease, noted } = openLease();
    const pay = fakeTool('pay', () => 'paid', { idempotent: true });
    const { play, begin } = await openHarness(
      sayInTurn(parts.asks(parts.call('c1', 'pay', {})), parts.says('done')),
      { lease, tools: [pay], more: { activities: 'leg' } },
    );
    await play(await begin());
    const left = noted.filter((each) => each.startsWith('notes'));
    expect(left).toHaveLength(3);
    expect(left.at(-1)).toContain('"tool":"pay"');
  });

  it('is not registered for a workflow that would not schedule it again', async () => {
    const { lease, noted } = openLease();
    const { begin, step } = await openHarness(() => parts.says('hi'), { lease });
    await step(await begin(), 1);
    expect(noted).toEqual([]);
  });

  it.each([
    ['a call that may not be repeated is taken over late', false],
    ['an idempotent call is taken over at once', true],
  ])('%s', async (_, idempotent) => {
    const { lease, noted } = openLease();
    const tool = fakeTool('pay', () => noted.push('executed'), { idempotent });
    const harness = await openHarness(() => parts.asks(parts.call('c1', 'pay', {})), {
      lease,
      tools: [tool],
    });
    const run = await harness.begin();
    await harness.step(run, 1);
    expect(await harness.tool(run, 1, 'c1', 1, { toolName: 'pay', isLeased: true })).toBe(
      'settled',
    );
    expect(noted).toEqual(
      idempotent
        ? ['registered', 'executed', 'released']
        : ['registered', 'patient', 'executed', 'impatient', 'released'],
    );
  });
});
