import type { AgentDefinition, AgentScope } from '../agents/index.js';
import type { Authorize } from '../ai-sdk/index.js';
import type { Runs } from '../runs/runs.js';
import type { BusyPolicy } from '../protocol/replies.js';
import type { OperatorWorkers } from '../protocol/operator.js';
import type { ReadinessReply } from '../protocol/replies.js';
import type { Tracer } from '../protocol/telemetry.js';
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
 * Checks by name; each resolves if its part answers and rejects if it does not. `redis`, which stores
 * everything, must answer; of the others one answer since the start is enough: messages are accepted
 * while they are away.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Settings of an API; each has a default. */
export interface ApiSettings extends IdentityOptions, CrossOriginOptions {
  /** The agent of a first message that names none. Default: the only agent that people may address. */
  defaultAgent?: string | undefined;
  /** Hosts whose files messages may name by URL. */
  allowedFileHosts?: readonly string[] | undefined;
  /** Which files people may add to conversations. */
  files?: FileSettings | undefined;
  /** For messages that arrive while a run is active and name no policy. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /** Base URL of the page's links into the Temporal UI. */
  temporalUi?: string | undefined;
  /** Folder of the built page. Default: no page is served. */
  webRoot?: string | undefined;
  /** `createApiMetrics(…)`. Default: those of the extension `metrics()`, of this app alone. */
  metrics?: ApiMetrics | undefined;
  /**
   * False if `createMetricsApp` serves `/metrics` on another port. Default: true; it answers callers with a
   * role who belong to no tenant.
   */
  publicMetrics?: boolean | undefined;
  /**
   * True sends a reply that has begun to its end, although its caller's token expires meanwhile: for clients
   * that do not reconnect. Default: false.
   */
  repliesOutliveTokens?: boolean | undefined;
  /** Limits per sender. Default: those of `ApiLimits`; without `authenticate` unlimited. */
  limits?: ApiLimits | undefined;
  /** Proxies whose `X-Forwarded-*` headers are trusted: their number, or their addresses. */
  trustedProxies?: number | readonly string[] | undefined;
  /**
   * Public DNS names of this server; requests to other ones are refused. Default: any name, without
   * `authenticate` none.
   */
  hostNames?: readonly string[] | undefined;
  /**
   * Decides who may act on conversations of the tenant, and whose answers are taken. Default:
   * `authorizeByRole`.
   */
  authorize?: Authorize | undefined;
  /**
   * Interval of the comments that keep a stream open, ms. Default: 5,000, and 15,000 for `…/events`. Pages
   * take a connection for lost after `longestSilenceMs`, 12 s: a longer interval needs a longer one there.
   */
  keepAliveMs?: number | undefined;
}

/** The runs as routes use them. */
export type ApiRuns = Omit<
  Runs,
  | ('idle' | 'startRun' | 'wake' | 'endLost' | 'startNext' | 'sweepSession')
  | ('adopt' | 'finishErasures' | 'finishErasuresOf' | 'mayApprove' | 'callWebhook' | 'listeners')
> &
  Partial<Pick<Runs, 'mayApprove' | 'callWebhook' | 'finishErasuresOf'>>;

/** The options of an app, complete. */
export interface ApiDeps extends ApiSettings {
  executor: ApiRuns;
  stateStore: Pick<
    Store,
    | ('sessions' | 'waiting' | 'documents' | 'checkpoints' | 'queue' | 'audit' | 'usage')
    | ('requests' | 'files')
  > & {
    owners: Pick<Store['owners'], 'page' | 'repair' | 'usage'>;
    runs: Pick<Store['runs'], 'list'>;
  };
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  agents: {
    has: (name: string) => boolean;
    /** False for an agent that people may not address. Default: every agent may be. */
    isPublic?: (name: string) => boolean;
    /** True if a factory makes the definition. */
    isMade?: (name: string) => boolean;
    getRegisteredTypes: () => string[];
    /** The definition, for the schema of its state. */
    get?: (name: string, scope?: AgentScope) => AgentDefinition | undefined;
  };
  namespace: string;
  checks: ReadinessChecks;
  /** The workers of the fleet; absent: none are known here. */
  readWorkers?: (() => Promise<OperatorWorkers>) | undefined;
  logger: ApiLogger;
}

/** What the handlers of routes work with. */
export interface RouteDeps extends ApiDeps {
  /** Of an extension. */
  tracer: Tracer | undefined;
  metrics: ApiMetrics;
  readIdentity: ReadIdentity;
  /** One read that the store of these deps does not count. */
  countRead: CountRead;
  /** Which parts answer, and whether this process takes messages. */
  readReadiness: () => Promise<ReadinessReply>;
  /** Whether a route takes files. */
  takesFiles: boolean;
  /** The OpenAPI document as JSON. */
  readOpenApi: () => string;
}
