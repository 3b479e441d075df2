import type { MetricMeter } from '@temporalio/common';
import { NOTICE_TYPES } from '../../protocol/notices.js';
import type { AttemptEnd, RunEvent, RunMeter, UsedModel } from '../../protocol/telemetry.js';
import type { FindTenant } from '../../worker/extension.js';

const ATTEMPT_ENDS: readonly AttemptEnd[] = [
  'committed',
  'cut',
  'discarded',
  'left',
  'fault',
  'fenced',
  'rewound',
  'exhausted',
];
/** Repairs of the sweeper. */
const REPAIRS = [
  'begin',
  'continue',
  'start',
  'give_up',
  'enforce',
  'wake',
  'expire',
  'fail',
  'stop',
];

/** Buckets of waits for people, seconds. */
export const WAITS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];

/** Most names per label with their own series in one process. */
const MAX_NAMES = 100;
/** Most tenants with their own series; only settings turn these on. */
const MAX_TENANTS = 1_000;

/** Adds a value to a metric. */
type Instrument = (value: number, labels?: Record<string, string>) => void;

/** Creates metrics. The names of counters are without `_total`. */
export interface Instruments {
  count: (name: string, help: string, labels: readonly string[]) => Instrument;
  seconds: (name: string, help: string, labels: readonly string[]) => Instrument;
}

const toLabels = () => ({
  agent: createLabelNames(),
  provider: createLabelNames(),
  model: createLabelNames(),
  tool: createLabelNames(),
  code: createLabelNames(),
  tenant: createLabelNames(MAX_TENANTS),
});

/** Counts the events that requests to an API cause too, so that API and workers share their names. */
export function createRunCounts(
  { count, seconds }: Instruments,
  labels: Pick<ReturnType<typeof toLabels>, 'agent' | 'code'> = toLabels(),
): RunMeter {
  const ends = count('helix_runs_ended', 'Runs that ended.', ['agent', 'status', 'code']);
  const answers = count('helix_answers', 'Answers of people and clients.', ['decision', 'source']);
  const waits = seconds('helix_wait_duration_seconds', 'Time from a question to its answer.', [
    'kind',
    'decision',
  ]);
  const budgets = count('helix_budgets_spent', 'Budgets that are spent.', ['of', 'period']);
  const sweeps = count('helix_sweeps', 'Sessions that the sweeper had to repair.', ['found']);

  // A counter that begins with its first event hides that event from `increase`, which alerts use.
  answers(0, { decision: 'expired', source: 'auto' });
  for (const whose of ['user', 'tenant']) {
    for (const period of ['day', 'month']) budgets(0, { of: whose, period });
  }
  for (const found of REPAIRS) sweeps(0, { found });

  return (event) => {
    switch (event.kind) {
      case 'run_ended': {
        const { agent, status, code = '' } = event;
        ends(1, { agent: labels.agent(agent), status, code: labels.code(code) });
        return;
      }
      case 'call_answered': {
        const { asked, decision, source, waitedSeconds } = event;
        answers(1, { decision, source });
        if (waitedSeconds !== undefined) waits(waitedSeconds, { kind: asked, decision });
        return;
      }
      case 'budget_spent':
        budgets(1, { of: event.of, period: event.period });
        return;
      case 'session_swept':
        sweeps(1, { found: event.found });
        return;
      default:
      // Only workers emit the other events.
    }
  };
}

/** Cost so far by agent and model, micro-dollars; workers that share a meter share the sums. */
const SPENT = new WeakMap<MetricMeter, Map<string, number>>();

/**
 * Counts events with the meter of Temporal's SDK, which exports them with its own metrics. Names
 * and attributes have underscores, since the SDK's Prometheus exporter drops those with dots; the
 * exporter adds `_total`.
 *
 * @param findTenant undefined counts without tenants
 */
export function createCoreMeter(meter: MetricMeter, findTenant?: FindTenant): RunMeter {
  const labels = toLabels();
  const count = (name: string, help: string): Instrument => {
    const counter = meter.createCounter(name, undefined, help);
    return (value, tags) => counter.add(value, tags);
  };
  const seconds = (name: string, help: string): Instrument => {
    const histogram = meter.createHistogram(name, 'float', undefined, help);
    return (value, tags) => histogram.record(value, tags);
  };
  const countRun = createRunCounts({ count, seconds }, labels);

  const inference = seconds('gen_ai_client_inference_duration_seconds', 'Duration of model calls.');
  const firstChunk = seconds(
    'gen_ai_client_inference_time_to_first_chunk_seconds',
    'Time until the first part of a model’s reply.',
  );
  const tokens = {
    inputTokens: count('gen_ai_client_inference_usage_input_tokens', 'Tokens of prompts.'),
    outputTokens: count('gen_ai_client_inference_usage_output_tokens', 'Tokens of replies.'),
    cachedTokens: count(
      'gen_ai_client_inference_usage_cache_read_input_tokens',
      'Tokens of prompts that a cache of the provider had.',
    ),
    cacheWriteTokens: count(
      'gen_ai_client_inference_usage_cache_write_input_tokens',
      'Tokens of prompts that were written to a cache of the provider.',
    ),
    reasoningTokens: count(
      'gen_ai_client_inference_usage_reasoning_output_tokens',
      'Tokens of replies that are reasoning.',
    ),
  };
  // The SDK's counters take whole numbers only, so this is a gauge that only rises.
  const cost = meter.createGauge('helix_cost_usd_total', 'float', undefined, 'Cost, US dollars.');
  const spent = SPENT.get(meter) ?? new Map<string, number>();
  SPENT.set(meter, spent);
  const executions = seconds('gen_ai_execute_tool_duration_seconds', 'Duration of executions.');
  const inferenceCalls = count('gen_ai_invoke_agent_inference_calls', 'Model calls of agents.');
  const toolCalls = count('gen_ai_invoke_agent_tool_calls', 'Executions of tools of agents.');
  const toolRetries = count('helix_tool_retries', 'Executions of tools that are repeated.');
  const providerRetries = count('helix_provider_retries', 'Replies withdrawn, by failure.');
  const attempts = count('helix_step_attempts', 'Attempts at steps, by how they ended.');
  const judgements = count('helix_lease_judgements', 'Workers that died.');
  const takeOvers = count('helix_take_overs', 'Attempts of dead workers that were taken over.');
  const lostLeases = count('helix_leases_lost', 'How often another worker judged this one.');
  const notices = count('helix_deliveries', 'Notices and how receivers took them.');
  const firstNotice = seconds(
    'helix_first_notice_seconds',
    'Time from a question until a receiver had its first notice.',
  );

  // As in `createRunCounts`, alerts must see the first event.
  for (const outcome of ATTEMPT_ENDS) attempts(0, { outcome });
  for (const outcome of ['done', 'failed']) takeOvers(0, { outcome });
  judgements(0);
  lostLeases(0);
  for (const type of NOTICE_TYPES) notices(0, { type, outcome: 'failed' });

  const toModelTags = ({ provider, model }: UsedModel) => ({
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: labels.provider(provider),
    gen_ai_request_model: labels.model(model),
  });
  const toAgentTags = ({ agent }: { agent: string }) => ({
    gen_ai_agent_name: labels.agent(agent),
  });

  function addUsage(
    { usage, agent, ...used }: Extract<RunEvent, { kind: 'tokens_used' }>,
    tenant?: string,
  ): void {
    const tags = toModelTags({ agent, ...used });
    for (const [field, add] of Object.entries(tokens)) {
      const amount = usage[field as keyof typeof tokens];
      if (amount !== undefined && amount > 0) add(amount, tags);
    }
    const { costMicroUsd = 0 } = usage;
    if (costMicroUsd === 0) return;
    const of = {
      agent: labels.agent(agent),
      model: tags.gen_ai_request_model,
      ...(tenant !== undefined && { tenant: labels.tenant(tenant) }),
    };
    const key = JSON.stringify(of);
    const sum = (spent.get(key) ?? 0) + costMicroUsd;
    spent.set(key, sum);
    cost.set(sum / 1_000_000, of);
  }

  return (event) => {
    switch (event.kind) {
      case 'attempt_ended':
        attempts(1, { outcome: event.outcome });
        if (event.code !== undefined) providerRetries(1, { code: labels.code(event.code) });
        return;
      case 'model_called': {
        const tags = toModelTags(event);
        inference(event.seconds, { ...tags, error_type: event.code ?? '' });
        if (event.firstSeconds !== undefined) firstChunk(event.firstSeconds, tags);
        inferenceCalls(1, toAgentTags(event));
        return;
      }
      case 'tokens_used':
        if (findTenant === undefined) addUsage(event);
        // The lookup does not delay the run; if it fails, the tenant is empty.
        else {
          void findTenant(event.run)
            .catch(() => undefined)
            .then((tenant = '') => addUsage(event, tenant));
        }
        return;
      case 'tool_executed': {
        const tool = labels.tool(event.tool);
        const error = event.code === undefined ? '' : labels.code(event.code);
        executions(event.seconds, { gen_ai_tool_name: tool, error_type: error });
        toolCalls(1, toAgentTags(event));
        return;
      }
      case 'tool_retried':
        toolRetries(1, { gen_ai_tool_name: labels.tool(event.tool) });
        return;
      case 'lease_judged':
        judgements(1);
        return;
      case 'attempt_taken_over':
        takeOvers(1, { outcome: event.isDone ? 'done' : 'failed' });
        return;
      case 'lease_lost':
        lostLeases(1);
        return;
      case 'notice_tried':
        notices(1, { type: event.type, outcome: event.outcome });
        if (event.seconds !== undefined) firstNotice(event.seconds);
        return;
      default:
        countRun(event);
    }
  };
}

/**
 * Bounds the values of a label. Names of agents, models and tools come from definitions, but a
 * factory may make a definition for each user.
 */
function createLabelNames(max = MAX_NAMES): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= max) return 'other';
    known.add(name);
    return name;
  };
}
