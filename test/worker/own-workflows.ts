import { proxyActivities } from '@temporalio/workflow';

export { agentRun } from '../../extensions/workflows.js';

const { shout } = proxyActivities<{ shout: (word: string) => Promise<string> }>({
  startToCloseTimeout: '10s',
});

/** A workflow that has nothing to do with agents. */
export function greet(name: string): Promise<string> {
  return shout(`hello ${name}`);
}
