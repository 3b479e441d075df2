import { proxyActivities } from '@temporalio/workflow';

export { agentRun } from '../../extensions/workflows.js';

const { shout } = proxyActivities<{ shout: (word: string) => Promise<string> }>({
  startToCloseTimeout: '10s',
});

/** A workflow without agents. */
export function greet(name: string): Promise<string> {
  return shout(`hello ${name}`);
}
