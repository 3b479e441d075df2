import { z } from 'zod';
import { createScriptedModel } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunShape } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { argumentOf } from '../support/history-of.js';
import { useRuns } from '../support/run-harness.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

const tool = (name: string, requireApproval?: true) =>
  fakeTool(name, () => name, { requireApproval });

const reporter = (name: string, maxSteps: number, activities?: RunShape) =>
  fakeAgent(name, createScriptedModel(), {
    activities,
    tools: [tool('look'), tool('ask', true)],
    outputSchema: z.object({ answer: z.number() }),
    maxSteps,
  });

const look = { calls: [{ tool: 'look' }] };
const result = { finish: { answer: 42 } };
const wrong = { finish: { answer: 'none' } };

const { runs: harness, stores } = useRuns([
  reporter('reporter', 50),
  reporter('short', 1),
  reporter('reporter-leg', 50, 'leg'),
  reporter('short-leg', 1, 'leg'),
]);

async function perform(agent: string, ...script: object[]) {
  const sessionId = harness.newSessionId();
  const run = await harness.begin(sessionId, agent, JSON.stringify({ script }));
  return { run, sessionId };
}

/** Plays a script and returns the run's end, by its workflow and by its record. */
async function ending(agent: string, ...script: object[]): Promise<[unknown, SessionRecord?]> {
  const { run, sessionId } = await perform(agent, ...script);
  return [await harness.result(run), await stores.store.sessions.read(sessionId)];
}

describe.each([
  ['', ''],
  [' in legs', '-leg'],
])('a run that owes a result%s', (_shape, suffix) => {
  it.each([
    ['after its tools', 'reporter', [look, result], 2],
    ['that first only spoke', 'reporter', [{ say: 'Forty-two.' }, result], 2],
    ['that did not fit twice', 'reporter', [wrong, wrong, result], 3],
    ['that was asked for at the step cap', 'short', [look, result], 2],
    ['beside a tool of the same step', 'short', [{ ...look, ...result }], 1],
  ])('a run that owes a result ends with one %s', async (_, agent, script, steps) => {
    const [summary, record] = await ending(`${agent}${suffix}`, ...script);
    expect(summary).toEqual({ status: 'completed', steps });
    expect(record).toMatchObject({ status: 'completed', output: { answer: 42 } });
  });

  it.each([
    ['never fits', 'reporter', [wrong, wrong, wrong, result], 'invalid_output'],
    ['never comes', 'reporter', [{ say: 'No.' }, { say: 'No!' }, result], 'output_missing'],
    ['does not come at the step cap', 'short', [look, { say: 'No.' }], 'output_missing'],
  ])('a run that owes a result fails when it %s', async (_, agent, script, code) => {
    const [summary, record] = await ending(`${agent}${suffix}`, ...script);
    expect(summary).toEqual({ failed: code });
    expect(record).toMatchObject({ status: 'failed', error: { code } });
    expect(record).not.toHaveProperty('output');
  });

  it('a run that owes a result waits for people whom the same step asked', async () => {
    const { run, sessionId } = await perform(`reporter${suffix}`, {
      calls: [{ tool: 'ask', id: 'a' }],
      ...result,
    });
    await harness.untilStatus(sessionId, 'waiting_approval');
    expect(await harness.decide(run, 'a', true)).toBe('stored');
    expect(await harness.result(run)).toEqual({ status: 'completed', steps: 1 });
    const rows = await stores.store.sessions.rows(sessionId, 2);
    expect(rows).toMatchObject([
      { toolCallId: 'a', output: 'ask' },
      { output: { acknowledged: true } },
      { role: 'assistant', display: true, parts: [] },
    ]);
  });
});

it('at the step cap only the result is wanted of the model', async () => {
  const { run } = await perform('short', look, result);
  expect(await harness.result(run)).toEqual({ status: 'completed', steps: 2 });
  const workflow = harness.client.workflow.getHandle(workflowIdOf(run.runId));
  const { events } = await workflow.fetchHistory();
  const asked = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: each }) =>
    each?.activityType?.name === 'modelStep' ? [argumentOf(each)] : [],
  );
  expect(asked).toMatchObject([{ step: 1 }, { step: 2, forceFinish: true }]);
});
