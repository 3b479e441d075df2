import { AgentsFileError, loadAgentsFile } from '../../extensions/own-files/index.js';
import { ModelConfigurationError, modelsFromSpec } from '../../agents/index.js';
import { ConfigError, parseEnv, withoutBlank, type Config } from '../../config/env.js';
import { withoutSecrets } from '../../config/startup.js';
import { readTemporal } from '../../config/temporal.js';
import { readPayloadKeys } from '../../extensions/codec/settings.js';
import { inspectTemporal } from '../../extensions/doctor/index.js';
import { budgetsOfSettings, unpricedAgents } from '../../extensions/limits/index.js';
import type { ReadinessReply } from '../../protocol/replies.js';
import { toReason } from '../../protocol/errors.js';
import { inspectRedis } from '../../store/redis/inspect-redis.js';
import { toUnreachable } from '../api/refusals.js';
import { checkReceivers } from './check-receivers.js';
import { checkClocks } from './check-clocks.js';
import { checkRedis, type RedisLook } from './check-redis.js';
import { checkTemporal, type TemporalLook } from './check-temporal.js';
import { verdictsOn, type Verdict } from './verdict.js';

type Env = Record<string, string | undefined>;

export interface ExamineOptions {
  /** Environment with the settings of API and workers. */
  env: Env;
  url: string;
  /** True to skip API and workers, which may not have been started. */
  enginesOnly: boolean;
  now: () => number;
}

interface Settings {
  config: Config;
  temporal: ReturnType<typeof readTemporal>;
  keyIds: string[];
}

const API_MS = 5_000;

/** Checks every part that the product needs, with the settings of its processes. */
export async function examine(options: ExamineOptions): Promise<Verdict[]> {
  const { env, url, enginesOnly } = options;
  // The command line does not start with a Node that is too old.
  const node = verdictsOn('node').ok(`${process.versions.node}.`);
  const settings = readSettings(env);
  if ('fault' in settings) {
    const fix = 'Correct it; the settings are listed in docs/deploying.md.';
    return [node, verdictsOn('settings').fail(settings.fault, fix)];
  }
  const { config } = settings;
  const given = withoutBlank(env);
  const [redis, temporal, ...others] = await Promise.all([
    lookAtRedis(config),
    lookAtTemporal(settings, options),
    checkModel(config, given),
    checkPrices(config, given),
    checkReceivers(config),
    enginesOnly ? [] : checkApi(url),
  ]);
  return [
    node,
    ...checkRedis(redis),
    ...checkTemporal(temporal),
    ...checkClocks(clocksOf(redis, temporal)),
    ...others.flat(),
  ];
}

function readSettings(env: Env): Settings | { fault: string } {
  try {
    const config = parseEnv(env);
    const keys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS) ?? [];
    return { config, temporal: readTemporal(env), keyIds: keys.map(({ id }) => id) };
  } catch (error) {
    if (error instanceof ConfigError) return { fault: error.message };
    throw error;
  }
}

async function lookAtRedis({ REDIS_URL }: Config): Promise<RedisLook> {
  const address = withoutSecrets(REDIS_URL);
  try {
    return { address, facts: await inspectRedis(REDIS_URL) };
  } catch (error) {
    return { address, reason: toReason(error) };
  }
}

async function lookAtTemporal(
  { config: { TASK_QUEUE: taskQueue }, temporal, keyIds }: Settings,
  { enginesOnly, now }: ExamineOptions,
): Promise<TemporalLook> {
  const { address, namespace, connection } = temporal;
  const facts = await inspectTemporal({ connection, namespace, taskQueue });
  const expectsWorker = !enginesOnly;
  return { address, namespace, taskQueue, keyIds, facts, expectsWorker, now: now() };
}

function clocksOf(redis: RedisLook, temporal: TemporalLook): Parameters<typeof checkClocks>[0] {
  const server = 'value' in temporal.facts ? temporal.facts.value.clock : undefined;
  return {
    redis: 'facts' in redis ? redis.facts.clock : undefined,
    temporal: server !== undefined && 'value' in server ? server.value : undefined,
  };
}

async function checkModel({ MODEL }: Config, env: Record<string, string>): Promise<Verdict> {
  const verdict = verdictsOn('model');
  try {
    await modelsFromSpec(MODEL, env);
  } catch (error) {
    if (!(error instanceof ModelConfigurationError)) throw error;
    return verdict.fail(error.message, 'It is a setting of the workers.');
  }
  if (MODEL !== undefined && MODEL !== 'scripted') {
    return verdict.ok(`${MODEL}, and what it needs is set.`);
  }
  return verdict.note(
    'Agents of the demo use the scripted model.',
    'MODEL names another one, for example openai:gpt-5, with its key in OPENAI_API_KEY.',
  );
}

/** Warns of agents without prices, whose cost budgets cannot count. Empty if no budget needs prices. */
export async function checkPrices(config: Config, env: Record<string, string>): Promise<Verdict[]> {
  if (budgetsOfSettings(config) === undefined) return [];
  const budgets = verdictsOn('budgets');
  const { AGENTS, MODEL = 'scripted' } = config;
  // Of the demo's models, only the scripted one has prices.
  let unpriced = MODEL === 'scripted' ? [] : [`the demo's, with MODEL=${MODEL}`];
  try {
    if (AGENTS !== undefined) unpriced = unpricedAgents(await loadAgentsFile(AGENTS, { env }));
  } catch (error) {
    // The check of the model reports a missing key; agents cannot be loaded without it.
    if (!(error instanceof AgentsFileError || error instanceof ModelConfigurationError)) {
      throw error;
    }
    return [budgets.fail(error.message, 'Correct the file that AGENTS names.')];
  }
  if (unpriced.length === 0) return [budgets.ok('All agents have prices.')];
  return [
    budgets.warn(
      `No budget counts what these cost, since they have no prices: ${unpriced.join(', ')}.`,
      'Set llmConfig.pricing of these agents, or take the BUDGET_… settings out.',
    ),
  ];
}

/** A silent API is only warned of: it may not have been started yet. */
async function checkApi(url: string): Promise<Verdict> {
  const api = verdictsOn('api');
  let reply: Partial<ReadinessReply>;
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(API_MS) });
    reply = (await response.json()) as Partial<ReadinessReply>;
  } catch (error) {
    return api.warn(toUnreachable(url, error).message);
  }
  const { status, away = [] } = reply;
  const isReady = status === 'ok';
  if (isReady && away.length === 0) return api.ok(`${url} is ready.`);
  const parts =
    away.length === 0 ? 'It has not seen all its parts yet.' : `Away for it: ${away.join(', ')}.`;
  return api[isReady ? 'warn' : 'fail'](
    `${url} is ${isReady ? 'ready, with parts missing' : 'not ready'}. ${parts}`,
    'Compare REDIS_URL, TEMPORAL_ADDRESS and TASK_QUEUE of the API with those here; its log has the reason.',
  );
}
