import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { OperatorRun } from '../../protocol/operator.js';
import { runCommand } from '../support/command-line.js';
import { startProcess } from '../support/process.js';
import { sharedTemporal } from '../support/product.js';
import { until } from '../support/until.js';

it('more runs than fit on a page are listed', async () => {
  const taskQueue = `many-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address: sharedTemporal() });
  const { workflow } = new Client({ connection });
  const ids = Array.from({ length: 130 }, (_, n) => `many-${String(n)}:1-x`);
  // No worker takes them.
  const api = startProcess('api', {
    HOST: '127.0.0.1',
    PORT: '0',
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    TASK_QUEUE: taskQueue,
    TEMPORAL_ADDRESS: sharedTemporal(),
    REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
  });
  try {
    const { port } = await api.says('api listens');
    await inGroups(ids, async (id) => {
      const workflowId = `run:${id}`;
      await workflow.start('agentRun', { taskQueue, workflowId, workflowExecutionTimeout: '5m' });
    });
    const env = { HELIX_URL: `http://127.0.0.1:${String(port)}` };
    await until('Temporal lists all', async () => {
      const { count } = await workflow.count(`TaskQueue = '${taskQueue}'`);
      return count === ids.length;
    });
    const { stdout } = await runCommand(['run', 'list', '--limit', '300', '-o', 'json'], { env });
    const runs = JSON.parse(stdout) as OperatorRun[];
    expect(new Set(runs.map(({ runId }) => runId))).toEqual(new Set(ids));
    const few = await runCommand(['run', 'list', '--limit', '110', '-o', 'jsonl'], { env });
    expect(few.stdout.trim().split('\n')).toHaveLength(110);
    expect(few.stderr).toContain('--limit shows more');
  } finally {
    await api.stop();
    await connection.close();
  }
}, 60_000);

/** Twenty at a time. */
async function inGroups<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += 20) {
    await Promise.all(items.slice(at, at + 20).map(act));
  }
}
