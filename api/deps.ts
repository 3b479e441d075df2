import type { AgentDefinition, AgentScope } from '../agents/index.js';
import type { Authorize } from '../ai-sdk/index.js';
import type { Runs } from '../runs/runs.js';
import type { BusyPolicy, ReadinessReply } from '../protocol/replies.js';
import type { OperatorWorkers } from '../protocol/operator.js';
import type { RequestTracer } from '../protocol/telemetry.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import type { FileSettings } from './file-settings.js';
import type { CrossOriginOptions } from './middleware/guards.js';
import type { ApiLimits } from './middleware/limits.js';
import type { IdentityOptions, ReadIdentity } from './identity.js';
import type { ApiMetrics } from './metrics.js';
import type { CountRead } from './middleware/read-budget.js';
import type { ApiLogger } from './middleware/refusals.js';

/**
 * Checks by name; a check rejects if its part does not answer. `redis` must answer each time, the
 * others once since the start: messages are accepted while they are away.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Settings of an API; each has a default. */
export interface ApiSettings extends IdentityOptions, CrossOriginOptions {
  /** Agent of first messages that name none. Default: the only agent that people may address. */
  defaultAgent?: string | undefined;
  /** Hosts whose files messages may name by URL. */
  allowedFileHosts?: readonly string[] | undefined;
  files?: FileSettings | undefined;
  /** Policy for messages that arrive while a run is active and name none. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /** Base URL of the page's links into the Temporal UI. */
  temporalUi?: string | undefined;
  /** Folder of the built page. Default: no page is served. */
  webRoot?: string | undefined;
  /** `createApiMetrics(…)`. Default: metrics of the extension `metrics()`, for this app alone. */
  metrics?: ApiMetrics | undefined;
  /**
   * False if `createMetricsApp` serves `/metrics` on another port. Default: true; `/metrics` then
   * answers callers with a role and without a tenant.
   */
  publicMetrics?: boolean | undefined;
  /**
   * True lets replies outlive their caller's token, if clients cannot reconnect. Default: false.
   */
  repliesOutliveTokens?: boolean | undefined;
  /** Limits per sender. Default: those of `ApiLimits`; without `authenticate` unlimited. */
  limits?: ApiLimits | undefined;
  /** Proxies whose `X-Forwarded-*` headers are trusted: their number, or their addresses. */
  trustedProxies?: number | readonly string[] | undefined;
  /**
   * Public DNS names of this server; requests to other names are refused. Default: any name, or
   * none without `authenticate`.
   */
  hostNames?: readonly string[] | undefined;
  /** Decides who may act on the tenant's conversations, and answer. Default: `authorizeByRole`. */
  authorize?: Authorize | undefined;
  /**
   * Interval of the comments that keep a stream open, ms. Default: 5,000, and 15,000 for
   * `…/events`. Pages give up a connection after `longestSilenceMs` (12 s), so a longer interval
   * needs a longer silence there.
   */
  keepAliveMs?: number | undefined;
}

export interface ApiDeps extends ApiSettings {
  executor: Runs;
  stateStore: Pick<
    Store,
    | ('sessions' | 'waiting' | 'documents' | 'checkpoints' | 'queue' | 'audit' | 'usage')
    | ('requests' | 'files')
  > & {
    owners: Pick<Store['owners'], 'page' | 'repair' | 'usage'>;
    runs: Pick<Store['runs'], 'list'>;
    calls: Pick<Store['calls'], 'read'>;
  };
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  agents: {
    has: (name: string) => boolean;
    /** Returns false for an agent that people may not address. Default: people may address all. */
    isPublic?: (name: string) => boolean;
    /** Returns true if a factory makes the definition. */
    isMade?: (name: string) => boolean;
    getRegisteredTypes: () => string[];
    get?: (name: string, scope?: AgentScope) => AgentDefinition | undefined;
  };
  namespace: string;
  checks: ReadinessChecks;
  /** Lists the workers of the fleet; absent if the executor cannot. */
  readWorkers?: (() => Promise<OperatorWorkers>) | undefined;
  logger: ApiLogger;
}

export interface RouteDeps extends ApiDeps {
  /** Undefined if no extension has a tracer. */
  tracer: RequestTracer | undefined;
  metrics: ApiMetrics;
  readIdentity: ReadIdentity;
  /** Counts a read that does not go through this `stateStore`. */
  countRead: CountRead;
  /** Reports the parts that answer, and whether this process accepts messages. */
  readReadiness: () => Promise<ReadinessReply>;
  /** True if a route accepts uploads. */
  takesFiles: boolean;
  readOpenApi: () => Promise<string>;
}
