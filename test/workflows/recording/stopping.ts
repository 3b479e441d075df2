import { workflowIdOf } from '../../../protocol/ids.js';
import { SIGNALS } from '../../../protocol/temporal.js';
import type { RunRecord } from '../../../store/contract/runs.js';
import type { History, Scenario, Stage } from './stage.js';

const asksToPay = { calls: [{ tool: 'pay', id: 'c1' }] };

async function whileItWaits(
  stage: Stage,
  act: (run: RunRecord) => Promise<unknown>,
): Promise<History> {
  const run = await stage.play([asksToPay]);
  await stage.untilWaits(run);
  await act(run);
  return stage.history(run.runId);
}

/** Runs that something stops before their own end. */
export const stopping: Record<string, Scenario> = {
  'stop-while-the-model-speaks': async (stage) => {
    const [, run] = await stage.hold('speak');
    await stage.runs.executor.stop(run.sessionId, { mode: 'interrupt' });
    return stage.history(run.runId);
  },
  'stop-while-a-tool-works': async (stage) => {
    const [, run] = await stage.hold('call');
    await stage.runs.executor.stop(run.sessionId, { mode: 'abort' });
    return stage.history(run.runId);
  },
  'stop-while-it-waits': (stage) =>
    whileItWaits(stage, ({ sessionId }) =>
      stage.runs.executor.stop(sessionId, { mode: 'interrupt' }),
    ),
  'stop-by-update': (stage) =>
    whileItWaits(stage, (run) => stage.update(run, 'stop', { mode: 'abort', reason: 'enough' })),
  'stop-signalled-by-hand': (stage) =>
    whileItWaits(stage, ({ runId }) =>
      stage.runs.client.workflow.getHandle(workflowIdOf(runId)).signal(SIGNALS.stop),
    ),
  'cancel-while-it-waits': (stage) =>
    whileItWaits(stage, ({ runId }) =>
      stage.runs.client.workflow.getHandle(workflowIdOf(runId)).cancel(),
    ),
  'cancel-while-the-model-speaks': async (stage) => {
    const [, run] = await stage.hold('speak');
    await stage.runs.client.workflow.getHandle(workflowIdOf(run.runId)).cancel();
    return stage.history(run.runId);
  },
  abandoned: (stage) =>
    whileItWaits(stage, ({ sessionId }) => stage.runs.begin(sessionId, 'agent', 'never mind')),
  failed: async (stage) => {
    const { runId } = await stage.play([{ fail: { status: 401 } }]);
    return stage.history(runId);
  },
};
