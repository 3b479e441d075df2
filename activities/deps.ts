import type { AgentRegistry } from '../agents/registry.js';
import type { ToolHost } from '../agents/tool-source.js';
import type { SlotLimits } from '../protocol/fair-slots.js';
import type { RunMeter, Tracer } from '../protocol/telemetry.js';
import type { ExecuteToolWork } from '../protocol/tool-work.js';
import type { Wake } from '../store/contract/call-record.js';
import type { StoredFile } from '../store/contract/files.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import type { LegTraces } from '../runs/record/leg-traces.js';
import type { ListenersDeps, StartNext } from '../runs/record/listeners.js';
import type { Lease } from './lease.js';

/** The part of a logger that activities use. */
export interface ActivityLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
}

/** Stores files of a conversation within the limits of its owner, and removes them. */
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
  /** Handed to tools as they are. */
  services: Readonly<Record<string, unknown>>;
  /** Where the API is reached from outside, without a slash at the end. Default: addresses are paths. */
  publicUrl?: string | undefined;
  /** Begins the next queued message when a run has ended. */
  startNext: StartNext;
  /** Signals a run that an answer to another run unblocks; without it the sweeper does. */
  wake?: (wake: Wake) => Promise<void>;
  /** How long the oldest write has waited for the store's answer, ms. Without it: never long. */
  unansweredMs?: () => number;
  /** True once the worker shuts down. Without it: never. */
  isDraining?: () => boolean;
  /** Held by this process; without it Temporal notices by heartbeats that the process has died. */
  lease?: Lease;
  /** Executes activities and Nexus operations for tools. Default: such calls fail. */
  toolWork?: ExecuteToolWork | undefined;
  /** What Temporal knows of a run's workflow. */
  workflowState?: (runId: string) => Promise<'running' | 'closed' | 'unknown'>;
  /** How many tools are executed at once in this process. Default: 200, of one user 50. */
  toolSlots?: SlotLimits;
  /** Concurrent activities of a worker whose calls may start eagerly. Default: none do. */
  eagerSlots?: number | undefined;
  /** Hosts whose files models get as bytes where they cannot fetch them. Default: none. */
  fileHosts?: readonly string[] | undefined;
  /** Stores files that models make. Default: those that are too large for the stream are not kept. */
  uploads?: MadeFiles | undefined;
  /** For the sources of agents' tools, closed by the worker. Default: of its own. */
  toolHost?: ToolHost;
  /** Counts what happens, except what changes tell (`listenToChanges`). Default: nothing. */
  meter?: RunMeter;
  /** Writes traces. Default: none. */
  tracer?: Tracer;
  /** Of extensions. Default: none. */
  others?: ListenersDeps['others'];
  logger: ActivityLogger;
}

/** What `createActivities` adds. */
export interface TracedDeps extends ActivityDeps {
  traces?: LegTraces | undefined;
}
