import { workflowIdOf } from '../../../protocol/ids.js';
import type { RunRecord } from '../../../store/contract/runs.js';
import { until } from '../../support/until.js';
import type { History, Scenario, Stage } from './stage.js';

const pay = { calls: [{ tool: 'pay', id: 'c1' }] };

function delegates(script: object[], ...besides: object[]): object[] {
  return [{ calls: [{ tool: 'delegate', id: 'd1', args: { script } }, ...besides] }];
}

/** Begins a run whose sub-agent asks for approval; returns the sub-agent's run id as well. */
async function untilAsked(stage: Stage): Promise<[run: RunRecord, child: string]> {
  const run = await stage.play(delegates([pay]));
  const call = await until('the sub-agent asks', async () => {
    const record = await stage.stores.store.sessions.read(run.sessionId);
    const found = await stage.stores.store.calls.read(run.sessionId, 'c1');
    return record?.stream === 'paused' ? found : undefined;
  });
  await stage.untilWaits({ ...run, runId: call.spec.runId });
  return [run, call.spec.runId];
}

async function answered(stage: Stage, whose: 'parent' | 'child'): Promise<History> {
  const [run, child] = await untilAsked(stage);
  await stage.runs.decide({ ...run, runId: child }, 'c1', true);
  const both = { parent: stage.history(run.runId), child: stage.history(child) };
  await Promise.all(Object.values(both));
  return both[whose];
}

async function stopped(stage: Stage, whose: 'parent' | 'child'): Promise<History> {
  const [run, child] = await untilAsked(stage);
  await stage.runs.executor.stop(run.sessionId, { mode: 'interrupt' });
  const both = { parent: stage.history(run.runId), child: stage.history(child) };
  await Promise.all(Object.values(both));
  return both[whose];
}

/** Runs that delegate to sub-agents. */
export const subAgents: Record<string, Scenario> = {
  'sub-agent': async (stage) => {
    const { runId } = await stage.play(delegates([{ say: 'done' }], { tool: 'note', id: 'n1' }));
    return stage.history(runId);
  },
  'sub-agent-asks-parent': (stage) => answered(stage, 'parent'),
  'sub-agent-asks-child': (stage) => answered(stage, 'child'),
  'sub-agent-answered-at-its-root': async (stage) => {
    const [run] = await untilAsked(stage);
    await stage.update(run, 'approve', { toolCallId: 'c1' });
    return stage.history(run.runId);
  },
  'sub-agent-stopped-parent': (stage) => stopped(stage, 'parent'),
  'sub-agent-stopped-child': (stage) => stopped(stage, 'child'),
  'sub-agent-fails': async (stage) => {
    const { runId } = await stage.play(delegates([{ fail: { status: 401 } }]));
    return stage.history(runId);
  },
  'sub-agent-lost': async (stage) => {
    const [run, child] = await untilAsked(stage);
    await stage.runs.client.workflow.getHandle(workflowIdOf(child)).terminate();
    return stage.history(run.runId);
  },
};
