import {
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import {
  runAgent,
  startAgent,
  type CalledRunResult,
  type RunAgentOptions,
} from '../../../extensions/workflows.js';

export { report } from '../../../examples/own-workflow/workflows.js';
export { agentRun } from '../../../extensions/workflows.js';

/** Runs an agent and returns the result. */
export function ask(
  agent: string,
  message: string,
  options?: RunAgentOptions,
): Promise<CalledRunResult> {
  return runAgent(agent, message, options);
}

/** Runs a conversation's two turns, one after the other. */
export async function askTwice(agent: string, options: RunAgentOptions): Promise<string[]> {
  const first = await runAgent(agent, 'one', options);
  const second = await runAgent(agent, 'two', options);
  return [first.text, second.text];
}

/** Runs an agent and stops the run at a signal. */
export async function askUntilEnough(
  agent: string,
  message: string,
  options: RunAgentOptions,
): Promise<CalledRunResult> {
  const run = await startAgent(agent, message, options);
  setHandler(defineSignal('enough'), () => run.stop({ mode: 'abort', reason: 'enough' }));
  return run.result();
}

/** Cancels the run's scope and returns the run's end. */
export async function askInScope(
  agent: string,
  message: string,
  options: RunAgentOptions,
): Promise<string> {
  let isEnough = false;
  setHandler(defineSignal('enough'), () => {
    isEnough = true;
  });
  const scope = new CancellationScope();
  const asked = scope
    .run(() => runAgent(agent, message, options))
    .then(
      () => 'ended',
      (error: unknown) => (isCancellation(error) ? 'cancelled' : 'failed'),
    );
  await condition(() => isEnough);
  scope.cancel();
  return asked;
}

/** Shields one run from a cancel and begins another after it. */
export async function askShielded(
  agent: string,
  message: string,
  options: RunAgentOptions,
): Promise<string[]> {
  const shielded = await CancellationScope.nonCancellable(() => runAgent(agent, message, options));
  const undone = await CancellationScope.nonCancellable(() => runAgent(agent, 'undo', options));
  return [shielded.status, undone.status];
}
