import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunHarness } from '../support/run-harness.js';
import { until } from '../support/until.js';

/** A run with parallel tools, two approvals (one denied) and the steps after them, on real engines. */
export async function recordHistory(runs: RunHarness, agent: string, path: string): Promise<void> {
  const id = runs.newSessionId();
  const wish = {
    calls: [
      { tool: 'echo', id: 'c1' },
      { tool: 'echo', id: 'c2' },
      { tool: 'charge', id: 'c3' },
      { tool: 'charge', id: 'c4' },
    ],
  };
  const run = await runs.begin(id, agent, JSON.stringify(wish));
  await runs.untilStatus(id, 'waiting_approval');
  const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
  await until('the workflow waits', async () => {
    const state = await handle.query<{ phase: string }>('agentState');
    return state.phase === 'waiting';
  });
  await runs.decide(run, 'c3', true);
  await runs.decide(run, 'c4', false);
  await runs.result(run);
  const history = await handle.fetchHistory();
  await mkdir(dirname(path), { recursive: true });
  // Which machine it was is nobody's business.
  const anonymous = historyToJSON(history).replaceAll(
    `${String(process.pid)}@${hostname()}`,
    'recorder',
  );
  await writeFile(path, `${JSON.stringify(JSON.parse(anonymous), null, 1)}\n`);
}
