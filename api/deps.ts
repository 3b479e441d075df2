import type { AgentDefinition, AgentScope } from '../agents/index.js';
import type { AgentExecutor } from '../executor/agent-executor.js';
import type { BusyPolicy } from '../protocol/busy.js';
import type { ReadinessReply } from '../protocol/replies.js';
import type { Store } from '../stores/contract/store.js';
import type { StreamManager } from '../stores/log/stream-manager.js';
import type { CrossOriginOptions } from './middleware/cross-origin.js';
import type { ApiLimits } from './middleware/limits.js';
import type { IdentityOptions, ReadIdentity } from './identity.js';
import type { ApiMetrics } from './metrics/api-metrics.js';
import type { ApiLogger } from './middleware/refusals.js';

/**
 * Each resolves when its part answers, and rejects when it does not. `redis`, where everything is
 * stored, has to answer; the others must have answered once: messages are taken without them.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** How an API behaves; everything has a default. */
export interface ApiSettings extends IdentityOptions, CrossOriginOptions {
  /** For first contacts that name none. Default: the agent that people may talk to, if there is only one. */
  defaultAgent?: string | undefined;
  /** Hosts from which files may be named by URL. */
  allowedFileHosts?: readonly string[] | undefined;
  /** For messages that come while a run is active, unless the request says. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /** For links out of the page. */
  temporalUi?: string | undefined;
  /** Folder of the built page, if it is served here. */
  webRoot?: string | undefined;
  /** Where this app counts. Default: metrics of its own, without those of the process. */
  metrics?: ApiMetrics | undefined;
  /** Whether this app serves `/metrics`; `createMetricsApp` does it on a port of its own. Default: true. */
  publicMetrics?: boolean | undefined;
  /** How much one sender may ask for. Default: off without `authenticate`, see there otherwise. */
  limits?: ApiLimits | undefined;
  /** Proxies in front whose word about the sender's address and host is taken: their number, or addresses. */
  trustedProxies?: number | readonly string[] | undefined;
  /**
   * Names of the public DNS under which it is reached; requests by other names are refused. Default:
   * any, without `authenticate` none.
   */
  hostNames?: readonly string[] | undefined;
  /** Silence after which a stream gets a comment, ms. */
  keepAliveMs?: number | undefined;
}

/** The options of an app, complete. */
export interface ApiDeps extends ApiSettings {
  executor: AgentExecutor;
  stateStore: Pick<Store, 'sessions' | 'waiting' | 'documents' | 'checkpoints' | 'queue'> & {
    owners: Pick<Store['owners'], 'page'>;
  };
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  agents: {
    has: (name: string) => boolean;
    /** Which of them people may talk to. Default: all. */
    isPublic?: (name: string) => boolean;
    getRegisteredTypes: () => string[];
    /** For agents whose sessions are given a state. */
    get?: (name: string, scope?: AgentScope) => AgentDefinition | undefined;
  };
  namespace: string;
  checks: ReadinessChecks;
  logger: ApiLogger;
}

/** What the handlers of routes work with. */
export interface RouteDeps extends ApiDeps {
  metrics: ApiMetrics;
  readIdentity: ReadIdentity;
  /** Which parts answer, and whether this process takes messages. */
  readReadiness: () => Promise<ReadinessReply>;
  /** The OpenAPI document as JSON. */
  readOpenApi: () => string;
}
