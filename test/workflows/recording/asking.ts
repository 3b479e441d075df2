import type { RunRecord } from '../../../store/contract/runs.js';
import type { History, Scenario, Stage } from './stage.js';

const calls = (tool: string): object => ({ calls: [{ tool, id: 'c1' }] });

/** Begins a run that asks people with this tool, and ends it by their answers. */
async function asked(
  stage: Stage,
  tool: string,
  act: (run: RunRecord) => Promise<unknown>,
): Promise<History> {
  const run = await stage.play([calls(tool)]);
  await stage.untilWaits(run);
  await act(run);
  return stage.history(run.runId);
}

/** A run whose receivers are notified. */
export const notified: Scenario = (stage) =>
  asked(stage, 'pay', (run) => stage.runs.decide(run, 'c1', true));

/** Runs that wait for people. */
export const asking: Record<string, Scenario> = {
  approval: (stage) => asked(stage, 'pay', (run) => stage.runs.decide(run, 'c1', true)),
  'approval-by-update': (stage) =>
    asked(stage, 'pay', (run) => stage.update(run, 'approve', { toolCallId: 'c1' })),
  'denial-by-update': (stage) =>
    asked(stage, 'pay', (run) => stage.update(run, 'deny', { toolCallId: 'c1', reason: 'no' })),
  'update-that-is-refused': (stage) =>
    asked(stage, 'pay', async (run) => {
      await stage.update(run, 'approve', { toolCallId: 'other' }).catch(() => undefined);
      await stage.runs.decide(run, 'c1', true);
    }),
  'deadline-expires': async (stage) => {
    const { runId } = await stage.play([calls('payNow')]);
    return stage.history(runId);
  },
  'deadline-is-kept': (stage) =>
    asked(stage, 'paySoon', (run) => stage.runs.decide(run, 'c1', true)),
  'deadline-is-extended': (stage) =>
    asked(stage, 'payInTime', async (run) => {
      await stage.update(run, 'extendDeadline', { toolCallId: 'c1', byMs: 600_000 });
      // The timer fires at the old deadline, and the workflow sets another.
      await stage.untilEvents(run, 'timerStartedEventAttributes', 2);
      await stage.runs.decide(run, 'c1', true);
    }),
  'client-tool': (stage) =>
    asked(stage, 'locate', ({ sessionId }) =>
      stage.runs.executor.submitToolResult({ sessionId, toolCallId: 'c1', result: 'Rome' }),
    ),
  'client-tool-in-time': (stage) =>
    asked(stage, 'locateSoon', ({ sessionId }) =>
      stage.runs.executor.submitToolResult({ sessionId, toolCallId: 'c1', result: 'Rome' }),
    ),
  'client-tool-by-update': (stage) =>
    asked(stage, 'locate', (run) =>
      stage.update(run, 'submitToolResult', { toolCallId: 'c1', result: 'Rome' }),
    ),
  'tools-beside-people': async (stage) => {
    const tools = ['note', 'note', 'paySoon', 'pay', 'locate'];
    const calls = tools.map((tool, n) => ({ tool, id: `c${String(n)}` }));
    const run = await stage.play([{ calls }]);
    await stage.untilWaits(run);
    await stage.runs.decide(run, 'c2', true);
    await stage.runs.decide(run, 'c3', false);
    const { sessionId } = run;
    await stage.runs.executor.submitToolResult({ sessionId, toolCallId: 'c4', error: 'no' });
    return stage.history(run.runId);
  },
};
