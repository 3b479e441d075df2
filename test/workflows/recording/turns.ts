import { workflowIdOf } from '../../../protocol/ids.js';
import type { BusyPolicy } from '../../../protocol/replies.js';
import { SIGNALS } from '../../../protocol/temporal.js';
import type { RunRecord } from '../../../store/contract/runs.js';
import { userMessage } from '../../support/session-driver.js';
import { until } from '../../support/until.js';
import type { Scenario, Stage } from './stage.js';

const note = { tool: 'note' };

function send(
  { runs }: Stage,
  { sessionId, agent }: RunRecord,
  policy: BusyPolicy,
): Promise<unknown> {
  const input = { sessionId, agent, owner: 'ann', tenant: 'acme' };
  return runs.executor.execute({ ...input, messages: [userMessage('next', 'next')], policy });
}

/** Begins a run and interrupts it while its model speaks. */
async function interrupted(stage: Stage): Promise<[gate: string, run: RunRecord]> {
  const [gate, run] = await stage.hold('speak');
  await stage.runs.executor.stop(run.sessionId, { mode: 'interrupt' });
  await stage.history(run.runId);
  return [gate, run];
}

/** Runs that complete, with their origins and successors. */
export const turns: Record<string, Scenario> = {
  'text-alone': async (stage) => {
    const { runId } = await stage.play([{ say: 'hello' }]);
    return stage.history(runId);
  },
  'parallel-tools': async (stage) => {
    const { runId } = await stage.play([{ calls: [note, note, note] }, { calls: [note] }]);
    return stage.history(runId);
  },
  'result-that-fits': async (stage) => {
    const script = [{ calls: [note], finish: { answer: 42 } }];
    const { runId } = await stage.play(script, 'reporter');
    return stage.history(runId);
  },
  'result-that-is-asked-for': async (stage) => {
    const script = [{ finish: { answer: 'none' } }, { say: 'No.' }, { finish: { answer: 42 } }];
    const { runId } = await stage.play(script, 'reporter');
    return stage.history(runId);
  },
  steered: async (stage) => {
    const [gate, run] = await stage.hold('call');
    await send(stage, run, 'steer');
    stage.gated.open(gate);
    return stage.history(run.runId);
  },
  'queue-handed-over': async (stage) => {
    const [gate, run] = await stage.hold('speak');
    await send(stage, run, 'queue');
    stage.gated.open(gate);
    return stage.history(run.runId);
  },
  'queue-handed-over-by-a-stop': async (stage) => {
    const [, run] = await stage.hold('call');
    await send(stage, run, 'queue');
    const handle = stage.runs.client.workflow.getHandle(workflowIdOf(run.runId));
    await handle.executeUpdate('stop', { args: [{}] });
    return stage.history(run.runId);
  },
  resumed: async (stage) => {
    const [, { sessionId }] = await interrupted(stage);
    const resumed = await stage.runs.executor.resume({ sessionId });
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    return stage.history(resumed.run.runId);
  },
  retried: async (stage) => {
    const [gate, { sessionId }] = await interrupted(stage);
    stage.gated.open(gate);
    const { runId } = await stage.runs.executor.retry({ sessionId });
    return stage.history(runId);
  },
  'woken-too-early': async (stage) => {
    const run = await stage.play([{ calls: [{ tool: 'pay', id: 'c1' }] }]);
    await stage.untilWaits(run);
    const handle = stage.runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const next = { do: 'model', step: 2 };
    await handle.signal(SIGNALS.look, { at: { version: 1e6, sequence: 0, next } });
    await stage.untilEvents(run, 'activityTaskCompletedEventAttributes', 2);
    await stage.untilWaits(run);
    await stage.runs.decide(run, 'c1', true);
    return stage.history(run.runId);
  },
  // Temporal was restored from an older copy: only the record still has the run.
  'begun-again-while-it-waits': async (stage) => {
    const run = await stage.play([{ calls: [{ tool: 'pay', id: 'c1' }] }]);
    await stage.untilWaits(run);
    const { client, workflows, sweep, decide } = stage.runs;
    const workflowExecution = { workflowId: workflowIdOf(run.runId) };
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution,
    });
    await until('it is forgotten', async () => (await workflows.state(run.runId)) === 'unknown');
    await sweep(run.sessionId);
    await stage.untilWaits(run);
    await decide(run, 'c1', true);
    return stage.history(run.runId);
  },
};
