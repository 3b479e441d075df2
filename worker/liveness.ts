import type { Lease } from '../activities/lease.js';
import type { RunMeter } from '../protocol/telemetry.js';
import type { Leases } from '../store/contract/leases.js';
import type { TakeOver } from './take-over.js';

/** How other workers notice within seconds that the process of a worker has died. */
export interface Liveness {
  lease: Lease & {
    /** The worker runs: what others see of its process from then on counts. */
    start: () => void;
    /** To be called also if the worker never runs: its lease is taken for that of a dead one. */
    close: () => Promise<void>;
  };
  /** Watches the leases of others until the signal fires, and takes over what dead ones held. */
  judge: (signal: AbortSignal, takeOver: TakeOver) => Promise<void>;
  /** Counts what happens from now on. */
  countWith: (meter: RunMeter) => void;
}

/** What a worker gives to what begins its lease. */
export interface LivenessDeps {
  leases: Leases;
  namespace: string;
  unansweredMs: (() => number) | undefined;
  logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  };
}
