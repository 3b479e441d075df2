import type { MetricMeter, MetricTags } from '@temporalio/common';

/** Parts of names that keep their underscores. */
const WORDS = [
  'cost_usd',
  'wait_duration',
  'first_notice',
  'runs_ended',
  'budgets_spent',
  'step_attempts',
  'provider_retries',
  'tool_retries',
  'lease_judgements',
  'leases_lost',
  'take_overs',
  'gen_ai',
  'execute_tool',
  'invoke_agent',
  'time_to_first_chunk',
  'cache_read',
  'cache_write',
  'input_tokens',
  'output_tokens',
  'inference_calls',
  'tool_calls',
];
const WORD = new RegExp(`(?:^|_)(${WORDS.join('|')})(?=_|$)`, 'g');

/**
 * Converts a name for OTLP: `gen_ai.client.inference.usage.input_tokens` for
 * `gen_ai_client_inference_usage_input_tokens`, without units and `_total`. Pure.
 */
export function toDots(name: string): string {
  return name
    .replace(/_total$/, '')
    .replace(/_seconds$/, '')
    .replaceAll(WORD, (found, word: string) => found.replace(word, word.replaceAll('_', '-')))
    .replaceAll('_', '.')
    .replaceAll('-', '_');
}

const toTags = (tags: MetricTags = {}): MetricTags =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [toDots(name), value]));

/** Wraps a meter so that metrics and attributes get OpenTelemetry's names. */
export function withDots(meter: MetricMeter): MetricMeter {
  const unitOf = (name: string): string | undefined =>
    name.endsWith('_seconds') ? 's' : undefined;
  return {
    withTags: (tags) => withDots(meter.withTags(toTags(tags))),
    createCounter: (name, unit, description) => {
      const counter = meter.createCounter(toDots(name), unit, description);
      return Object.assign(Object.create(counter) as typeof counter, {
        add: (value: number, tags?: MetricTags) => {
          counter.add(value, toTags(tags));
        },
      });
    },
    createHistogram: (name, valueType, unit = unitOf(name), description) => {
      const histogram = meter.createHistogram(toDots(name), valueType, unit, description);
      return Object.assign(Object.create(histogram) as typeof histogram, {
        record: (value: number, tags?: MetricTags) => {
          histogram.record(value, toTags(tags));
        },
      });
    },
    createGauge: (name, valueType, unit, description) => {
      const gauge = meter.createGauge(toDots(name), valueType, unit, description);
      return Object.assign(Object.create(gauge) as typeof gauge, {
        set: (value: number, tags?: MetricTags) => {
          gauge.set(value, toTags(tags));
        },
      });
    },
  };
}
