import { AgentsFileError, loadAgentsFile } from '../../extensions/own-files/index.js';
import { ModelConfigurationError, modelsFromSpec } from '../../agents/index.js';
import { ConfigError, parseEnv, withoutBlank, type Config } from '../../config/env.js';
import { readPayloadKeys } from '../../extensions/codec/settings.js';
import { withoutSecrets } from '../../config/startup.js';
import { readTemporal, type TemporalSettings } from '../../config/temporal.js';
import { inspectTemporal } from '../../extensions/doctor/index.js';
import { budgetsOfSettings, unpricedAgents } from '../../extensions/limits/index.js';
import type { ReadinessReply } from '../../protocol/replies.js';
import { toReason } from '../../protocol/errors.js';
import { inspectRedis } from '../../store/redis/inspect-redis.js';
import { toUnreachable } from '../api/refusals.js';
import { judgeClocks } from './judge-clocks.js';
import { judgeRedis, type RedisLook } from './judge-redis.js';
import { judgeApi, judgeModel, judgeNode, judgePrices } from './judge-rest.js';
import { judgeReceivers, type ApiLook } from './judge-rest.js';
import { lookAtReceivers } from './look-at-receivers.js';
import { judgeTemporal, type TemporalLook } from './judge-temporal.js';
import { verdictsOn, type Verdict } from './verdict.js';

export interface ExamineOptions {
  /** Environment with the settings of API and workers. */
  env: Record<string, string | undefined>;
  /** The API's URL. */
  url: string;
  nodeVersion: string;
  /** True to skip API and workers, which may not have been started. */
  enginesOnly: boolean;
  now: () => number;
}

interface Settings {
  config: Config;
  temporal: TemporalSettings;
  keyIds: string[];
}

const API_MS = 5_000;

/** Checks every part that the product needs, with the settings of its processes. */
export async function examine(options: ExamineOptions): Promise<Verdict[]> {
  const { env, url, nodeVersion, enginesOnly } = options;
  const node = judgeNode(nodeVersion);
  const settings = readSettings(env);
  if ('fault' in settings) {
    const fix = 'Correct it; the settings are listed in docs/deploying.md.';
    return [node, verdictsOn('settings').fail(settings.fault, fix)];
  }
  const [redis, temporal, model, prices, receivers, ready] = await Promise.all([
    lookAtRedis(settings.config),
    lookAtTemporal(settings, options),
    findModelFault(settings.config, withoutBlank(env)),
    lookAtPrices(settings.config, withoutBlank(env)),
    lookAtReceivers(settings.config).catch((error: unknown) => ({ fault: toReason(error) + '.' })),
    enginesOnly ? undefined : lookAtApi(url),
  ]);
  return [
    node,
    ...judgeRedis(redis),
    ...judgeTemporal(temporal),
    ...judgeClocks(clocksOf(redis, temporal)),
    judgeModel(settings.config.MODEL, model),
    ...(prices === undefined ? [] : [judgePrices(prices)]),
    ...judgeReceivers(receivers),
    ...(ready === undefined ? [] : [judgeApi(ready)]),
  ];
}

function readSettings(env: ExamineOptions['env']): Settings | { fault: string } {
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
  { config, temporal, keyIds }: Settings,
  { enginesOnly, now }: ExamineOptions,
): Promise<TemporalLook> {
  const { address, namespace, connection } = temporal;
  const taskQueue = config.TASK_QUEUE;
  const facts = await inspectTemporal({ connection, namespace, taskQueue });
  const expectsWorker = !enginesOnly;
  return { address, namespace, taskQueue, keyIds, facts, expectsWorker, now: now() };
}

function clocksOf(redis: RedisLook, temporal: TemporalLook): Parameters<typeof judgeClocks>[0] {
  const server = 'value' in temporal.facts ? temporal.facts.value.clock : undefined;
  return {
    redis: 'facts' in redis ? redis.facts.clock : undefined,
    temporal: server !== undefined && 'value' in server ? server.value : undefined,
  };
}

async function findModelFault(
  { MODEL }: Config,
  env: Record<string, string>,
): Promise<string | undefined> {
  try {
    await modelsFromSpec(MODEL, env);
    return undefined;
  } catch (error) {
    if (error instanceof ModelConfigurationError) return error.message;
    throw error;
  }
}

async function lookAtApi(url: string): Promise<ApiLook> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(API_MS) });
    const { status, away = [] } = (await response.json()) as Partial<ReadinessReply>;
    return { url, isReady: status === 'ok', away };
  } catch (error) {
    return { url, fault: toUnreachable(url, error).message };
  }
}

/** Returns the agents without prices; undefined if no budget needs prices. */
export async function lookAtPrices(
  config: Config,
  env: Record<string, string>,
): Promise<string[] | { fault: string } | undefined> {
  if (budgetsOfSettings(config) === undefined) return undefined;
  const { AGENTS, MODEL = 'scripted' } = config;
  // Of the demo's models, only the scripted one has prices.
  if (AGENTS === undefined) return MODEL === 'scripted' ? [] : [`the demo's, with MODEL=${MODEL}`];
  try {
    return unpricedAgents(await loadAgentsFile(AGENTS, { env }));
  } catch (error) {
    // The check of the model reports a missing key; agents cannot be loaded without it.
    if (error instanceof AgentsFileError || error instanceof ModelConfigurationError) {
      return { fault: error.message };
    }
    throw error;
  }
}
