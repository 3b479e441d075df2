import { pino } from 'pino';
import { isAddressable } from '../ai-sdk/index.js';
import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import type { AgentExecutor } from '../runs/executor-of.js';
import { joinParts, requireParts } from '../store/contract/shared-data.js';
import type { ApiDeps, ApiRuns, ApiSettings, ReadinessChecks } from './deps.js';
import type { ApiExtension } from './extension.js';
import type { ApiLogger } from './middleware/refusals.js';

/** The stores of `createRedisStores`. */
interface ApiStores {
  store: ApiDeps['stateStore'];
  streamManager: ApiDeps['streamManager'];
  ping?: () => Promise<void>;
}

/** Options of `createApi`. */
export type ApiOptions = ApiSettings & {
  /** `createAgentExecutor(…)` or `createInProcessExecutor(…)`. */
  executor: { readonly runs: ApiRuns } & Partial<
    Pick<AgentExecutor, 'namespace' | 'checks' | 'readWorkers'>
  >;
  agents: ApiDeps['agents'] | readonly AgentDefinition[];
  /** Optional capabilities. Default: none. */
  extensions?: readonly ApiExtension[] | undefined;
  /** For links into the Temporal UI. Default: the executor's. */
  namespace?: string;
  /** Checks of `/readyz`. Default: the stores, Temporal, and a worker. */
  checks?: ReadinessChecks;
  /** Default: warnings and errors as JSON lines on stdout. */
  logger?: ApiLogger;
} & (
    | { stores: ApiStores }
    | { stateStore: ApiStores['store']; streamManager: ApiStores['streamManager'] }
  );

/** Parts of the store that requests use. */
const PARTS: readonly (keyof ApiStores['store'])[] = [
  ...(['sessions', 'waiting', 'documents', 'checkpoints', 'queue', 'audit'] as const),
  ...(['usage', 'requests', 'files', 'owners', 'runs'] as const),
];

/** Fills in the defaults of absent options. */
export function toApiDeps(options: ApiOptions): ApiDeps {
  const { executor } = options;
  const stores: ApiStores =
    'stores' in options
      ? options.stores
      : { store: options.stateStore, streamManager: options.streamManager };
  requireParts('store', stores.store, PARTS);
  requireParts('stream manager', stores.streamManager, ['read', 'follow']);
  joinParts(executor, stores.store, stores.streamManager);
  const agents = 'has' in options.agents ? options.agents : new AgentRegistry(options.agents);
  return {
    ...options,
    executor: executor.runs,
    stateStore: stores.store,
    streamManager: stores.streamManager,
    agents,
    defaultAgent: options.defaultAgent ?? onlyAgent(agents),
    namespace: options.namespace ?? executor.namespace ?? 'default',
    checks: options.checks ?? {
      // An absent check must not be a key: `/readyz` runs every key.
      ...(stores.ping && { redis: stores.ping }),
      ...executor.checks,
    },
    readWorkers: executor.readWorkers,
    logger: options.logger ?? pino({ name: 'api', level: 'warn' }),
  };
}

function onlyAgent(agents: ApiDeps['agents']): string | undefined {
  const names = agents.getRegisteredTypes().filter((name) => isAddressable(agents, name));
  return names.length === 1 ? names[0] : undefined;
}
