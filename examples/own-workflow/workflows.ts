import { proxyActivities } from '@temporalio/workflow';
import { runAgent } from '../../extensions/workflows.js';

const { loadFigures } = proxyActivities<{ loadFigures: (customer: string) => Promise<string> }>({
  startToCloseTimeout: '1 minute',
});

/**
 * Reports on a customer: an activity loads figures, then an agent writes, asks a person and publishes. The
 * workflow waits as long as the person takes.
 */
export async function report(customer: string, owner: string): Promise<string> {
  const figures = await loadFigures(customer);
  const { status, text } = await runAgent('reporter', `Figures of ${customer}: ${figures}`, {
    userId: owner,
    sessionId: `report-${customer}`,
  });
  return status === 'completed' ? text : `no report: ${status}`;
}
