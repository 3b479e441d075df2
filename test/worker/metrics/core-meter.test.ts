import { expect, it } from '@jest/globals';
import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { RunEvent } from '../../../protocol/run-meter.js';
import { createCoreMeter } from '../../../worker/metrics/core-meter.js';

/** A meter that keeps what is recorded, as `name value {tags}`. */
function createFakeMeter(): { meter: MetricMeter; samples: string[] } {
  const samples: string[] = [];
  const keep =
    (name: string) =>
    (value: number, tags: MetricTags = {}): void => {
      if (value !== 0) samples.push(`${name} ${String(value)} ${JSON.stringify(tags)}`);
    };
  const make = (name: string) => ({ name, add: keep(name), record: keep(name), set: keep(name) });
  const meter = { createCounter: make, createHistogram: make, createGauge: make };
  return { meter: meter as unknown as MetricMeter, samples };
}

const MODEL = { agent: 'guide', provider: 'openai', model: 'gpt' };

it('cost is the sum of all replies, in dollars', () => {
  const { meter, samples } = createFakeMeter();
  const count = createCoreMeter(meter);
  const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 1_500 };
  const used: RunEvent = { kind: 'tokens_used', ...MODEL, usage };
  count(used);
  count(used);
  expect(samples.filter((sample) => sample.startsWith('helix_cost'))).toEqual([
    'helix_cost_usd_total 0.0015 {"agent":"guide","model":"gpt"}',
    'helix_cost_usd_total 0.003 {"agent":"guide","model":"gpt"}',
  ]);
});

it('cost is the sum of all workers that share a meter', () => {
  const { meter, samples } = createFakeMeter();
  const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 1_500 };
  for (let worker = 0; worker < 2; worker += 1) {
    createCoreMeter(meter)({ kind: 'tokens_used', ...MODEL, usage });
  }
  expect(samples.at(-1)).toBe('helix_cost_usd_total 0.003 {"agent":"guide","model":"gpt"}');
});

it('names beyond a hundred share one series', () => {
  const { meter, samples } = createFakeMeter();
  const count = createCoreMeter(meter);
  for (let at = 0; at < 150; at += 1) {
    count({ kind: 'tool_executed', tool: `tool-${String(at)}`, seconds: 1 });
  }
  const names = new Set(samples.map((sample) => /"gen_ai_tool_name":"([^"]*)"/.exec(sample)?.[1]));
  expect(names.size).toBe(101);
  expect(names.has('other')).toBe(true);
});
