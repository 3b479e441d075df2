import { APICallError } from '@ai-sdk/provider';
import { attemptOf, createHarness } from '../support/activity-harness.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { hangAfter, open, rateLimited } from './hanging-model.js';

const refusing = () =>
  fakeModel(() =>
    Promise.reject(
      new APICallError({ message: 'no', url: 'http://a', requestBodyValues: {}, statusCode: 401 }),
    ),
  );
const answer = parts.says('from the second');

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
