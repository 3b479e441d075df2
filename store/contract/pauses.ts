/**
 * Agents that operators have paused, and the runs that are held back meanwhile: they are begun in the
 * record, and their workflows are started once the agent is resumed.
 */
export interface Pauses {
  /** Those of a fleet: the workers of one namespace and task queue. */
  of: (fleet: string) => Pauses;
  /** False if the agent was paused before; the first pause counts. */
  set: (pause: Pause) => Promise<boolean>;
  /** False if the agent was not paused so. */
  clear: (scope: PauseScope) => Promise<boolean>;
  list: () => Promise<Pause[]>;
  /** Holds a run back if its agent is paused; true if it is held. */
  hold: (run: HeldRun) => Promise<boolean>;
  /** True for a run that is held, or is yet to be started after the pause. */
  isHeld: (run: Omit<HeldRun, 'startedAt'>) => Promise<boolean>;
  /** Sets when a held run is tried again, ms since the epoch. */
  postpone: (run: Omit<HeldRun, 'startedAt'>, until: number) => Promise<void>;
  /** Held runs of agents that are not paused any more, the oldest first, without those of later. */
  released: (most: number) => Promise<HeldRun[]>;
  /** After its start, or its end. */
  drop: (run: Omit<HeldRun, 'startedAt'>) => Promise<void>;
  /** How many runs are held, by agent and tenant; those without any are left out. */
  held: () => Promise<HeldCount[]>;
}

/** Whose conversations with an agent are paused. */
export interface PauseScope {
  agent: string;
  /** `true`: of all tenants, and of users without one. */
  everywhere: boolean;
  /** Absent: of users without a tenant. Without a meaning for `everywhere`. */
  tenant?: string | undefined;
}

export interface Pause extends PauseScope {
  /** ms since the epoch. */
  at: number;
  by: string;
  reason?: string | undefined;
}

export interface HeldRun {
  runId: string;
  agent: string;
  tenant?: string | undefined;
  /** ms since the epoch: they are started in this order. */
  startedAt: number;
}

export interface HeldCount {
  agent: string;
  tenant?: string | undefined;
  count: number;
}
