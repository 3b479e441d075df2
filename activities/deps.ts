import type { AgentRegistry } from '../agents/registry.js';
import type { ToolHost } from '../agents/tool-source.js';
import type { SlotLimits } from '../protocol/fair-slots.js';
import type { RunMeter } from '../protocol/telemetry.js';
import type { ExecuteToolWork } from '../protocol/temporal.js';
import type { Wake } from '../store/contract/call-record.js';
import type { StoredFile } from '../store/contract/files.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import type { ListenersDeps, StartNext } from '../runs/record/listeners.js';
import type { ActivityExtension, WorkMiddleware } from './extension.js';
import type { Lease } from './lease.js';

/** The part of a logger that activities use. */
export interface ActivityLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
}

/** Stores files of a conversation within its owner's limits, and removes them. */
export interface MadeFiles {
  upload: (
    input: SessionOwner & {
      sessionId: string;
      mediaType: string;
      madeBy: string;
      content: Uint8Array;
    },
  ) => Promise<StoredFile>;
  removeFile: (sessionId: string, fileId: string) => Promise<boolean>;
}

export interface ActivityDeps {
  store: Store;
  streamManager: StreamManager;
  agents: AgentRegistry;
  /** Passed to tools unchanged. */
  services: Readonly<Record<string, unknown>>;
  /** Public base URL of the API, without a trailing slash. Default: addresses are paths. */
  publicUrl?: string | undefined;
  /** Begins the next queued message when a run has ended. */
  startNext: StartNext;
  /** Signals a run that an answer to another run unblocks. Default: the sweeper wakes it. */
  wake?: (run: Pick<Wake, 'runId'>) => Promise<void>;
  /** Time that the oldest write has waited for the store's answer, ms. Default: always 0. */
  unansweredMs?: () => number;
  /** True once the worker shuts down. Default: always false. */
  isDraining?: () => boolean;
  /** Lease of this process. Default: Temporal detects a dead process by its heartbeats. */
  lease?: Lease;
  /** Executes activities and Nexus operations for tools. Default: such calls fail. */
  toolWork?: ExecuteToolWork | undefined;
  /** Reads the state of a run's workflow in Temporal. */
  workflowState?: (runId: string) => Promise<'running' | 'closed' | 'unknown'>;
  /** Concurrent tool executions in this process. Default: 200, of which one user may have 50. */
  toolSlots?: SlotLimits;
  /** Concurrent activities of a worker whose calls may start eagerly. Default: none do. */
  eagerSlots?: number | undefined;
  /** Hosts whose files are fetched for models that cannot fetch them. Default: none. */
  fileHosts?: readonly string[] | undefined;
  /** Stores files that models make. Default: files too large for the stream are dropped. */
  uploads?: MadeFiles | undefined;
  /** Provides the sources of agents' tools; the worker closes it. Default: a private one. */
  toolHost?: ToolHost;
  /** Counts events, except those that changes report (`listenToChanges`). Default: none. */
  meter?: RunMeter;
  /** Default: none. */
  extensions?: readonly ActivityExtension[];
  /** Listeners of extensions. Default: none. */
  others?: ListenersDeps['others'];
  logger: ActivityLogger;
}

/** Dependencies with those that `createRunParts` adds. */
export interface WorkDeps extends ActivityDeps {
  /** Middleware of the extensions, the first outermost. Default: none. */
  middleware?: readonly WorkMiddleware[];
}
