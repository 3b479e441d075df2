import type { AgentRegistry } from '../agents/index.js';
import type { AgentExecutor } from '../runs/executor-of.js';
import type { MemoryStores } from '../store/memory/index.js';
import type { TestClock } from './test-clock.js';

/** What a runtime under test has, wherever its runs are carried out. */
export interface SharedParts {
  agents: AgentRegistry;
  stores: MemoryStores;
  services: Readonly<Record<string, unknown>> | undefined;
  clock: TestClock;
}

/** Where runs are carried out. */
export interface CarriedOut {
  executor: AgentExecutor;
  advance: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}
