import fc from 'fast-check';
import {
  allFailed,
  firstTurn,
  modelsOf,
  nextTry,
  nextWait,
  retries,
} from '../../activities/model/retries.js';
import { failures } from '../../activities/model/call-model.js';
import type { ProviderFailure } from '../../activities/model/provider-failure.js';
import type { LlmConfig } from '../../agents/llm-settings.js';
import { attemptOf, createHarness } from '../support/activity-harness.js';
import { apiError, fakeModel, parts } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { hangAfter, open, rateLimited } from './hanging-model.js';

const max = (): number => 1;
const min = (): number => 0;
const TEN_MINUTES = 10 * 60_000;

describe('the budget of tries', () => {
  it('the budget of tries doubles its waits up to half a minute, by half at random', () => {
    const waits = [1, 2, 3, 4, 8, 20].map((failures) => {
      const failing = { failures, forMs: 0 };
      return [nextWait(failing, undefined, {}, min), nextWait(failing, undefined, {}, max)];
    });
    expect(waits).toEqual([
      [125, 250],
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [15_000, 30_000],
      [15_000, 30_000],
    ]);
  });

  it('the budget of tries lasts through an outage of ten minutes, with a try behind its end, and no longer', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (randoms) => {
        const random = (): number => randoms.next().value as number;
        let forMs = 0;
        let failures = 1;
        for (;;) {
          const wait = nextWait({ failures, forMs }, undefined, {}, random);
          if (wait === undefined) break;
          forMs += wait;
          failures += 1;
        }
        expect(forMs).toBeGreaterThanOrEqual(TEN_MINUTES);
        expect(forMs).toBeLessThanOrEqual(TEN_MINUTES + 2_000);
        expect(failures).toBeLessThan(60);
      }),
    );
  });

  it('the budget of tries waits as long as the provider demands, unless that is too long', () => {
    const failing = { failures: 1, forMs: 0 };
    expect(nextWait(failing, 50, {}, min)).toBe(50);
    expect(nextWait(failing, 50, {}, max)).toBe(55);
    expect(nextWait(failing, 300_000, {}, max)).toBe(302_000);
    expect(nextWait(failing, TEN_MINUTES + 1, {})).toBeUndefined();
    expect(nextWait({ failures: 1, forMs: 400_000 }, 300_000, {})).toBeUndefined();
  });

  it('the budget of tries backs off from a provider that demands no wait again and again', () => {
    const waits = [1, 3, 4, 5, 20].map((failures) => nextWait({ failures, forMs: 0 }, 0, {}, max));
    expect(waits).toEqual([0, 0, 250, 500, 30_000]);
    expect(nextWait({ failures: 9, forMs: 0 }, 60_000, {}, min)).toBe(60_000);
    expect(nextWait({ failures: 9, forMs: 50 }, 0, { retryForMs: 60 }, min)).toBe(10);
  });

  it('the agent sets the budget of tries', () => {
    expect(nextWait({ failures: 5, forMs: 0 }, undefined, { maxTries: 5 })).toBeUndefined();
    expect(nextWait({ failures: 4, forMs: 0 }, undefined, { maxTries: 5 })).toBeGreaterThan(0);
    expect(nextWait({ failures: 1, forMs: 0 }, undefined, { retryForMs: 0 })).toBeUndefined();
    expect(nextWait({ failures: 9, forMs: 50 }, undefined, { retryForMs: 60 }, min)).toBe(10);
  });
});

const overloaded = { code: 'provider_overloaded', message: '', retryable: true };
const refused = { code: 'provider_unauthorized', message: '', retryable: false };
const hook = { code: 'context_hook_failed', message: '', retryable: false };

const config = (...tries: (number | undefined)[]): LlmConfig => ({
  model: 'a',
  models: tries.map((maxTries, at) => ({
    model: 'abc'[at] ?? '',
    ...(maxTries !== undefined && { maxTries }),
  })),
});

const next = (
  llm: LlmConfig,
  failure: ProviderFailure,
  failures: number,
  reached?: { index: number; before: number },
): unknown =>
  nextTry(llm, firstTurn(modelsOf(llm), reached), failure, { failures, forMs: 0 }, () => 0);

describe('the turns of models', () => {
  it('begin with the first, or with the one that an earlier attempt has reached', () => {
    const models = modelsOf(config(undefined, 3, undefined));
    expect(firstTurn(models)).toEqual({ index: 0, before: 0 });
    expect(firstTurn(models, { index: 2, before: 4 })).toEqual({ index: 2, before: 4 });
    // A release has shortened the list.
    expect(firstTurn(modelsOf({ model: 'a' }), { index: 2, before: 4 })).toMatchObject({
      index: 0,
    });
  });

  it('one that may recover is asked again, then the next one at once', () => {
    const llm = config(2, 1);
    expect(next(llm, overloaded, 1)).toMatchObject({ kind: 'wait' });
    expect(next(llm, overloaded, 2)).toEqual({ kind: 'next', turn: { index: 1, before: 2 } });
    expect(next(llm, overloaded, 3, { index: 1, before: 2 })).toBe('failed');
  });

  it('one that refuses, or wants to be left alone for long, is not asked again', () => {
    const llm = config(5, undefined);
    const turn = { index: 1, before: 1 };
    expect(next(llm, refused, 1)).toEqual({ kind: 'next', turn });
    expect(next(llm, { ...overloaded, retryAfterMs: 30_000 }, 1)).toEqual({ kind: 'next', turn });
    expect(next(llm, refused, 2, turn)).toBe('failed');
    // The last one is waited for as an only one is.
    expect(next(llm, { ...overloaded, retryAfterMs: 30_000 }, 2, turn)).toMatchObject({
      ms: 30_000,
    });
  });

  it('a failure that is not a model’s ends the step', () => {
    const settings = { code: 'provider_settings_refused', message: '', retryable: false };
    for (const failure of [hook, settings]) expect(next(config(2, 2), failure, 1)).toBe('failed');
    expect(allFailed(modelsOf(config(2, 2)), hook)).toBe(hook);
    expect(allFailed(modelsOf(config(2, 2)), refused)).toMatchObject({ code: 'models_failed' });
    expect(allFailed(modelsOf({ model: 'a' }), refused)).toBe(refused);
  });

  it('all of them stay within the limits of the step', () => {
    expect(next({ ...config(5, 5), maxTries: 2 }, overloaded, 2)).toBe('failed');
    // Tries of the models before count as well.
    const turn = { index: 1, before: 2 };
    expect(next({ ...config(2, undefined), maxTries: 3 }, overloaded, 3, turn)).toBe('failed');
    const late = { failures: 1, forMs: 700_000 };
    expect(nextTry(config(1, 1), { index: 0, before: 0 }, overloaded, late)).toBe('failed');
  });
});

const refusing = () => fakeModel(() => Promise.reject(apiError(401)));
const answer = parts.says('from the second');

it('a call that a stop cut is no failure of its provider, and is not repeated', async () => {
  const attempt = { cancelled: () => false, cutReason: () => 'stop' };
  const chunks = { flush: () => Promise.resolve(), lost: () => undefined };
  const agent = { llmConfig: { model: 'a' } };
  const step = { attempt, agent, chunks, claim: { failures: 0 }, progress: { failures: 0 } };
  const request = { times: {}, step, reply: { finish: () => undefined } } as never;
  const warn = jest.fn();
  const cut = () => Promise.reject(new Error('cut'));
  expect(await failures({ attempt, warn } as never)(request, cut)).toEqual({ request });
  expect(warn).not.toHaveBeenCalled();
  const answered = { request, failure: overloaded };
  const retrying = retries({ store: {} } as never)(step as never);
  expect(await retrying(request, () => Promise.resolve(answered))).toBe(answered);
});

describe('a model that another one stands in for', () => {
  it('is not asked again by a worker that takes the step over', async () => {
    const stores = await openTestStores();
    const first = refusing();
    const second = fakeModel((n, { abortSignal }) =>
      n === 0 ? hangAfter(open('of the lost worker'), abortSignal) : answer,
    );
    const { session, begin, step } = createHarness(stores, { model: [first, second] });
    const run = await begin();
    const worker = attemptOf(1);
    const lost = step(run, 1, 1, worker).catch(() => undefined);
    await until('the second speaks', async () => textIn(await session.log()) !== '');
    expect(await step(run, 1, 2)).toMatchObject({ status: 'completed' });
    worker.cancel();
    await lost;
    expect([first, second].map((model) => model.doStreamCalls.length)).toEqual([1, 2]);
    expect(textIn(await session.log())).toBe('from the second');
  });

  it('is not asked again after a long wait for the other one, and is by the next step', async () => {
    const first = refusing();
    const second = fakeModel((n) => {
      if (n === 0) return Promise.reject(rateLimited(30_000));
      return n === 1 ? parts.asks(parts.call('c1', 'none', {})) : answer;
    });
    const model = [{ model: first, maxTries: 5 }, second];
    const { begin, step } = createHarness(await openTestStores(), { model });
    const run = await begin();
    await expect(step(run, 1, 1)).rejects.toMatchObject({ type: 'provider_wait' });
    expect(await step(run, 1, 2)).toMatchObject({ step: 1 });
    expect([first, second].map((each) => each.doStreamCalls.length)).toEqual([1, 2]);
    expect(await step(run, 2)).toMatchObject({ status: 'completed' });
    expect([first, second].map((each) => each.doStreamCalls.length)).toEqual([2, 3]);
  });
});
