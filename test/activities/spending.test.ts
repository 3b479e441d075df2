import { APICallError } from '@ai-sdk/provider';
import type { SpendCap } from '../../agents/index.js';
import { toRunUsage } from '../../activities/model/spending.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { toLoggedError } from '../../activities/model/provider-failure.js';
import { openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { parts, type Script } from '../support/fake-model.js';

const { text, call, finish, says, asks } = parts;
const pricing = { inputPerMTok: 3, outputPerMTok: 15 };

const executed: string[] = [];
const echo = fakeTool('echo', (_, { toolCallId }) => {
  executed.push(toolCallId);
  return 'again';
});

/** Each call of the fake model uses 3 tokens in and 2 out: 39 millionths of a dollar. */
function harnessOf(script: Script, spendCap?: SpendCap, meter?: RunMeter) {
  const more = { llmConfig: { pricing }, ...(spendCap !== undefined && { spendCap }) };
  return openHarness(script, { tools: [echo], more, ...(meter && { meter }) });
}

const callsOnAndOn: Script = (n) => asks(call(`c${String(n)}`, 'echo', {}));

describe('what a run uses', () => {
  it('the usage of a run is counted over its steps, with its cost', async () => {
    const given = await harnessOf((n) =>
      n < 2 ? [...call(`c${String(n)}`, 'echo', {}), ...finish()] : says('ok'),
    );
    expect(await given.play(await given.begin())).toMatchObject({
      status: 'completed',
      spent: { tokens: 15, microUsd: 117 },
    });
    expect(await given.stores.store.runs.current(given.session.id)).toMatchObject({
      usage: { inputTokens: 9, outputTokens: 6, costMicroUsd: 117 },
    });
  });

  it('the usage of a run includes attempts that failed after their provider had counted', async () => {
    const metered: number[] = [];
    const given = await harnessOf(
      (n) => [...text('So'), ...finish(n === 0 ? 'error' : 'stop')],
      undefined,
      (event) => event.kind === 'tokens_used' && metered.push(event.usage.costMicroUsd ?? 0),
    );
    await given.play(await given.begin());
    expect(metered).toEqual([39, 39]);
    expect(await given.record()).toMatchObject({
      usage: { inputTokens: 6, outputTokens: 4, costMicroUsd: 78 },
    });
  });

  it('tokens that the provider read from its cache have their own price', () => {
    const usage = {
      inputTokens: 1_000,
      outputTokens: 10,
      cachedTokens: 600,
      cacheWriteTokens: 100,
    };
    const cost = (more: object) =>
      toRunUsage(usage, { pricing: { ...pricing, ...more } })?.costMicroUsd;
    expect(cost({})).toBe(3_150);
    expect(cost({ cachedPerMTok: 0.3, cacheWritePerMTok: 3.75 })).toBe(900 + 180 + 375 + 150);
    expect(toRunUsage(usage, {})).toEqual(usage);
    // Some providers count cached tokens beside the input.
    const beside = { inputTokens: 100, outputTokens: 0, cachedTokens: 600 };
    const prices = { ...pricing, cachedPerMTok: 0.3 };
    expect(toRunUsage(beside, { pricing: prices })?.costMicroUsd).toBe(180);
  });
});

describe('a cap on what a run may use', () => {
  it.each([
    ['tokens', { tokens: 10 }],
    ['money', { usd: 0.000078 }],
  ])('of %s ends it before the next model call, with what it has done', async (_, spendCap) => {
    executed.length = 0;
    const given = await harnessOf(callsOnAndOn, spendCap);
    expect(await given.play(await given.begin())).toMatchObject({
      kind: 'ended',
      step: 2,
      status: 'failed',
      error: { code: 'spend_cap_reached', retryable: false },
    });
    expect(given.model.doStreamCalls).toHaveLength(2);
    expect(executed).toEqual(['c0']);
    const rows = await given.rows(1);
    expect(rows).toMatchObject([
      { role: 'assistant' },
      { role: 'tool', toolCallId: 'c0', output: 'again' },
      { role: 'assistant', parts: [{ type: 'tool-call', toolCallId: 'c1' }] },
      { role: 'tool', toolCallId: 'c1', errorCode: 'run_failed' },
    ]);
    // The next run counts from zero.
    expect(await given.step(await given.begin(), 1)).toMatchObject({ kind: 'calls' });
  });

  it('a cap lets a run end that has nothing more to do', async () => {
    const given = await harnessOf(() => says('Done.'), { tokens: 1 });
    expect(await given.play(await given.begin())).toMatchObject({ status: 'completed' });
  });

  it('a cap applies to failing attempts of one step, too', async () => {
    const given = await harnessOf(() => [...text('So'), ...finish('error')], { tokens: 12 });
    expect(await given.play(await given.begin())).toMatchObject({
      error: { code: 'spend_cap_reached' },
    });
    expect(given.model.doStreamCalls).toHaveLength(3);
  });
});

it("a provider's error in the log is bounded, and leaves out the request", () => {
  const error = new APICallError({
    message: 'm'.repeat(10_000),
    url: 'https://model.example',
    requestBodyValues: { messages: ['the whole conversation'] },
    statusCode: 500,
    responseBody: 'b'.repeat(1_000_000),
    cause: new Error('down'),
  });
  const logged = JSON.stringify(toLoggedError(error));
  expect(logged.length).toBeLessThan(10_000);
  expect(logged).not.toContain('conversation');
  expect(JSON.parse(logged)).toMatchObject({ statusCode: 500, cause: 'Error: down' });
  expect(toLoggedError({ type: 'overloaded_error' })).toEqual({
    value: '{"type":"overloaded_error"}',
  });
  expect(toLoggedError(undefined)).toEqual({ value: 'undefined' });
});
