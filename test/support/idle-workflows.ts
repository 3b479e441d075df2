import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import type { RunsDeps } from '../../runs/deps.js';
import { createRuns } from '../../runs/create-runs.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

const nothing = (): Promise<void> => Promise.resolve();

/** An engine that accepts every request and does nothing, so each run seems to be working. */
export const IDLE_WORKFLOWS: RunWorkflows = {
  fleet: 'test',
  namespace: 'test',
  start: nothing,
  wake: nothing,
  state: () => Promise.resolve('running'),
  look: () => Promise.resolve({ state: 'running', isAtWork: true, started: [], children: [] }),
  retry: nothing,
  closedSince: () => Promise.resolve([]),
  openPage: () => Promise.resolve({ runIds: [], next: undefined }),
  erase: () => Promise.resolve({ deleted: 0, unknown: [] }),
};

type IdleRuns = Partial<Omit<RunsDeps, 'agents' | 'workflows'>> & {
  agents?: AgentRegistry | readonly AgentDefinition[];
  workflows?: Partial<RunWorkflows>;
};

/** Creates runs over this engine; a test may replace parts of it. */
export function createIdleRuns(
  { store, streamManager }: { store: Store; streamManager: StreamManager },
  { agents = [], workflows, ...others }: IdleRuns = {},
): ReturnType<typeof createRuns> {
  return createRuns({
    store,
    streamManager,
    agents: agents instanceof AgentRegistry ? agents : new AgentRegistry(agents),
    workflows: { ...IDLE_WORKFLOWS, ...workflows },
    logger: { warn: () => undefined },
    ...others,
  });
}
