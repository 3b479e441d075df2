import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { SessionRecord } from '../../../store/contract/sessions.js';
import type { RunEvent } from '../../../protocol/telemetry.js';
import { createCoreMeter } from '../../../extensions/metrics/core-meter.js';
import { exportMetricsTo, withDots } from '../../../extensions/metrics/exporter.js';

/** Creates a meter that keeps each recorded value as `name value {tags}`. */
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

const RUN = { sessionId: 's', runId: 's:1-a' };
const MODEL = { agent: 'guide', provider: 'openai', model: 'gpt' };

it('cost is the sum of all replies, in dollars', () => {
  const { meter, samples } = createFakeMeter();
  const count = createCoreMeter(meter);
  const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 1_500 };
  const used: RunEvent = { kind: 'tokens_used', ...MODEL, run: RUN, usage };
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
    createCoreMeter(meter)({ kind: 'tokens_used', ...MODEL, run: RUN, usage });
  }
  expect(samples.at(-1)).toBe('helix_cost_usd_total 0.003 {"agent":"guide","model":"gpt"}');
});

it('names beyond a hundred share one series', () => {
  const { meter, samples } = createFakeMeter();
  const count = createCoreMeter(meter);
  for (let at = 0; at < 150; at += 1) {
    count({ kind: 'tool_executed', agent: 'guide', tool: `tool-${String(at)}`, seconds: 1 });
  }
  const executed = samples.filter((sample) => sample.startsWith('gen_ai_execute_tool'));
  const names = new Set(executed.map((each) => /"gen_ai_tool_name":"([^"]*)"/.exec(each)?.[1]));
  expect(names.size).toBe(101);
  expect(names.has('other')).toBe(true);
});

it('cost is counted by tenant where that is wanted, and what cannot be read is of none', async () => {
  const { meter, samples } = createFakeMeter();
  const usage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 1_500 };
  const records: Record<string, object> = { a: { tenant: 'acme' }, b: {} };
  const read = (id: string) =>
    id === 'away'
      ? Promise.reject(new Error())
      : Promise.resolve(records[id] as SessionRecord | undefined);
  const findTenant = async (run: { sessionId: string }) => (await read(run.sessionId))?.tenant;
  const count = createCoreMeter(meter, findTenant);
  for (const sessionId of ['a', 'b', 'c', 'away']) {
    count({ kind: 'tokens_used', ...MODEL, run: { sessionId, runId: sessionId }, usage });
  }
  count({ kind: 'run_ended', agent: 'guide', status: 'completed' });
  await new Promise((resolve) => setImmediate(resolve));
  const costs = samples.filter((sample) => sample.startsWith('helix_cost')).sort();
  expect(costs).toEqual([
    'helix_cost_usd_total 0.0015 {"agent":"guide","model":"gpt","tenant":""}',
    'helix_cost_usd_total 0.0015 {"agent":"guide","model":"gpt","tenant":"acme"}',
    'helix_cost_usd_total 0.003 {"agent":"guide","model":"gpt","tenant":""}',
    'helix_cost_usd_total 0.0045 {"agent":"guide","model":"gpt","tenant":""}',
  ]);
  expect(samples).toContain('helix_runs_ended 1 {"agent":"guide","status":"completed","code":""}');
});

it('names and attributes for OTLP are those of the conventions', () => {
  const { meter, samples } = createFakeMeter();
  const count = createCoreMeter(withDots(meter));
  const usage = { inputTokens: 1, outputTokens: 3, cachedTokens: 2, costMicroUsd: 1_500 };
  count({ kind: 'tokens_used', ...MODEL, run: RUN, usage });
  count({ kind: 'model_called', ...MODEL, seconds: 1, firstSeconds: 0.5 });
  count({ kind: 'tool_executed', agent: 'guide', tool: 'echo', seconds: 2 });
  const model =
    '"gen_ai.operation.name":"chat","gen_ai.provider.name":"openai","gen_ai.request.model":"gpt"';
  expect(samples).toEqual([
    `gen_ai.client.inference.usage.input_tokens 1 {${model}}`,
    `gen_ai.client.inference.usage.output_tokens 3 {${model}}`,
    `gen_ai.client.inference.usage.cache_read.input_tokens 2 {${model}}`,
    'helix.cost_usd 0.0015 {"agent":"guide","model":"gpt"}',
    `gen_ai.client.inference.duration 1 {${model},"error.type":""}`,
    `gen_ai.client.inference.time_to_first_chunk 0.5 {${model}}`,
    'gen_ai.invoke_agent.inference_calls 1 {"gen_ai.agent.name":"guide"}',
    'gen_ai.execute_tool.duration 2 {"gen_ai.tool.name":"echo","error.type":""}',
    'gen_ai.invoke_agent.tool_calls 1 {"gen_ai.agent.name":"guide"}',
  ]);
});

it('histograms keep their buckets under the names of the conventions', () => {
  const { histogramBucketOverrides: buckets = {} } = exportMetricsTo('http://c/v1/metrics', 1).otel;
  for (const [own, named] of [
    ['gen_ai_execute_tool_duration_seconds', 'gen_ai.execute_tool.duration'],
    ['helix_wait_duration_seconds', 'helix.wait_duration'],
  ] as const) {
    expect(buckets[named]).toEqual(buckets[own]);
    expect(buckets[own]?.length).toBeGreaterThan(5);
  }
});
