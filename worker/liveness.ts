import type { ActivityLogger } from '../activities/index.js';
import type { Lease } from '../activities/lease.js';
import type { RunMeter } from '../protocol/telemetry.js';
import type { Times } from '../protocol/limits.js';
import type { Leases } from '../store/contract/leases.js';
import type { TakeOver } from './take-over.js';

/** Lets other workers notice within seconds that this worker's process has died. */
export interface Liveness {
  lease: Lease & {
    /** Starts the lease when the worker runs; others judge its process from then on. */
    start: () => void;
    /** Must be called even if the worker never ran: others would take it for a dead one. */
    close: () => Promise<void>;
  };
  /** Watches the leases of others until the signal fires, and takes over what dead ones held. */
  judge: (signal: AbortSignal, takeOver: TakeOver) => Promise<void>;
  countWith: (meter: RunMeter) => void;
}

export interface LivenessDeps {
  leases: Leases;
  namespace: string;
  unansweredMs: (() => number) | undefined;
  times?: Times | undefined;
  logger: ActivityLogger;
}
