import { randomBytes } from 'node:crypto';
import type { AgentRegistry } from '../agents/registry.js';
import type { RequestTracer, RunMeter } from '../protocol/telemetry.js';
import type { Times } from '../protocol/limits.js';
import type { Pauses } from '../store/contract/pauses.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import type { AuditLogger } from './record/listeners.js';
import type { Deliveries } from './deliveries.js';
import type { RunsExtension, RunsHost } from './extension.js';
import type { RunWorkflows } from './run-workflows.js';

export interface RunsDeps {
  store: Store;
  streamManager: Pick<StreamManager, 'read' | 'follow'> & Partial<Pick<StreamManager, 'inspect'>>;
  workflows: RunWorkflows;
  agents: AgentRegistry;
  /** Absent if Temporal does not execute the runs. */
  temporal?: RunsHost['temporal'];
  /** For operators: the model's name, and the page that shows a conversation. */
  modelName?: string;
  sessionUrl?: (sessionId: string, runId: string) => string;
  /** True if this process executes runs, so that it must know their agents. */
  carriesOut?: boolean;
  /** Runs that are not started within this time end as `engine_unavailable`, ms. Default 15 minutes. */
  startWithinMs?: number;
  times?: Times;
  extensions?: readonly RunsExtension[];
  /** Counts what happens to runs. Default: nothing. */
  meter?: RunMeter;
  logger: AuditLogger;
}

/** What the operations on runs share. The store has the fleet's due list and reports changes. */
export interface RunsCore extends RunsDeps {
  pauses: Pauses;
  /** Undefined without receivers. */
  deliveries: Deliveries | undefined;
  tracer: RequestTracer | undefined;
  meter: RunMeter;
  /** Logs a lost signal; the sweeper or the search for outliving workflows repeats it. */
  lostSignal: (runId: string) => (error: unknown) => void;
}

/** Delay before the sweeper first checks a new run. */
export const FIRST_SWEEP_MS = 3_000;

export function newNonce(): string {
  return randomBytes(6).toString('hex');
}
