import type { AgentDefinition } from '../../agents/index.js';
import { startApi, type ApiServer, type StartOptions } from '../api/api-server.js';
import { useRuns } from '../support/run-harness.js';
import { lateBound, type TestStores } from '../support/test-stores.js';

/** Keeps an API over real runs of one agent up, with a worker in this process. */
export function useAgentApi(
  agent: AgentDefinition,
  options: StartOptions = {},
): { api: ApiServer; stores: TestStores } {
  const { runs, stores } = useRuns([agent]);
  let api: ApiServer | undefined;
  beforeAll(async () => {
    api = await startApi({
      ...stores,
      executor: { runs: runs.executor },
      agents: { has: () => true, getRegisteredTypes: () => [agent.name] },
      keepAliveMs: 50,
      ...options,
    });
  });
  return { api: lateBound(() => api), stores };
}
