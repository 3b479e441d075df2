import type { RunParts } from '../activities/run-parts.js';
import type { RunInput } from '../protocol/run.js';
import type { Attempts } from './attempts.js';
import type { Clock } from './clock.js';

/** What carries the runs of a process on. */
export interface CarryDeps {
  parts: RunParts;
  attempts: Attempts;
  clock: Clock;
  /** Fires when the process leaves its runs. */
  leaving: AbortSignal;
  /** Carries a sub-agent's run to its end. @throws LeftOff */
  carryChild: (input: RunInput) => Promise<void>;
}
