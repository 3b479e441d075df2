import type { AgentRegistry } from '../agents/index.js';
import type { AgentExecutor } from '../runs/executor.js';
import type { MemoryStores } from '../store/memory/index.js';
import type { TestClock } from './test-clock.js';

/** Setup of a test runtime that does not depend on where runs are carried out. */
export interface SharedSetup {
  agents: AgentRegistry;
  stores: MemoryStores;
  services: Readonly<Record<string, unknown>> | undefined;
  clock: TestClock;
}

/** Executor of a test runtime: in process or on Temporal. */
export interface CarriedOut {
  executor: AgentExecutor;
  advance: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}
