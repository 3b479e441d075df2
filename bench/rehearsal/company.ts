/** An engine that runs as one process (scripts/engines/engine-process.mjs). */
export interface Engine {
  readonly name: string;
  readonly pid: number | undefined;
  kill9: () => Promise<void>;
  /** Orderly end if it runs; resolves when it answers again. */
  restart: () => Promise<void>;
}

/** What scripts/engines/company-engines.mjs starts. */
export interface Engines {
  postgres: Engine;
  redis: {
    url: string;
    nodes: readonly Engine[];
    /** Those that have slots now. */
    masters: () => Promise<Engine[]>;
    /** Resolves when every slot has a master with a replica that has caught up. */
    untilWhole: () => Promise<void>;
  };
  temporal: {
    address: string;
    /** By the name of the role. */
    roles: Readonly<Record<string, Engine>>;
  };
  close: () => Promise<void>;
}

/** Where the engines are found, and how it is made that they are found there. */
export interface Announced {
  announced: string;
  reach: (name: string, ports: readonly number[]) => Promise<void>;
}

export type StartEngines = (announced: Announced) => Promise<Engines>;
