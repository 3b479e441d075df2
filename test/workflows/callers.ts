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
} from '../../extensions/workflows.js';

export { report } from '../../examples/own-workflow/workflows.js';
export { agentRun } from '../../extensions/workflows.js';

/** One run, and its result. */
export function ask(
  agent: string,
  message: string,
  options?: RunAgentOptions,
): Promise<CalledRunResult> {
  return runAgent(agent, message, options);
}

/** Two runs of one conversation, one after the other. */
export async function askTwice(agent: string, options: RunAgentOptions): Promise<string[]> {
  const first = await runAgent(agent, 'one', options);
  const second = await runAgent(agent, 'two', options);
  return [first.text, second.text];
}

/** Stops its run when it is signalled. */
export async function askUntilEnough(
  agent: string,
  message: string,
  options: RunAgentOptions,
): Promise<CalledRunResult> {
  const run = await startAgent(agent, message, options);
  setHandler(defineSignal('enough'), () => run.stop({ mode: 'abort', reason: 'enough' }));
  return run.result();
}

/** Cancels one of its scopes, and tells how its run has ended. */
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

/** A run that a cancel does not reach, and one that begins after it. */
export async function askShielded(
  agent: string,
  message: string,
  options: RunAgentOptions,
): Promise<string[]> {
  const shielded = await CancellationScope.nonCancellable(() => runAgent(agent, message, options));
  const undone = await CancellationScope.nonCancellable(() => runAgent(agent, 'undo', options));
  return [shielded.status, undone.status];
}
