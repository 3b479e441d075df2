/**
 * Agents that operators have paused, and the runs held back meanwhile. Held runs exist in the record; their workflows
 * start once the agent is resumed.
 */
export interface Pauses {
  /** The pauses of a fleet, that is, the workers of one namespace and task queue. */
  of: (fleet: string) => Pauses;
  /** Returns false if the agent was paused before; the first pause counts. */
  set: (pause: Pause) => Promise<boolean>;
  /** Returns false if there was no pause of this scope. */
  clear: (scope: PausedAgent) => Promise<boolean>;
  list: () => Promise<Pause[]>;
  /** Holds a run back if its agent is paused. Returns true if the run is held. */
  hold: (run: HeldRun) => Promise<boolean>;
  /** Returns true for a run that is held, or not started yet after the pause. */
  isHeld: (run: Omit<HeldRun, 'startedAt'>) => Promise<boolean>;
  /** Sets the time at which a held run is tried again, ms since the epoch. */
  postpone: (run: Omit<HeldRun, 'startedAt'>, until: number) => Promise<void>;
  /** Held runs of agents that are no longer paused, oldest first, without postponed ones. */
  released: (max: number) => Promise<HeldRun[]>;
  /** Removes a run that has started or ended. */
  drop: (run: Omit<HeldRun, 'startedAt'>) => Promise<void>;
  /** Numbers of held runs by agent and tenant, without zeros. */
  held: () => Promise<HeldCount[]>;
}

/** The conversations with an agent that a pause covers. */
export interface PausedAgent {
  agent: string;
  /** True for all tenants, and users without one. */
  everywhere: boolean;
  /** Absent for users without a tenant. Ignored with `everywhere`. */
  tenant?: string | undefined;
}

export interface Pause extends PausedAgent {
  /** ms since the epoch. */
  at: number;
  by: string;
  reason?: string | undefined;
}

export interface HeldRun {
  runId: string;
  agent: string;
  tenant?: string | undefined;
  /** ms since the epoch; held runs are started in this order. */
  startedAt: number;
}

export interface HeldCount {
  agent: string;
  tenant?: string | undefined;
  count: number;
}
