import { z } from 'zod';
import { createScriptedModel, type AgentDefinition } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunShape } from '../../protocol/run.js';
import { useRuns } from '../support/run-harness.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Attempts by call, as the tool saw them. */
const attempts = new Map<string, [attempt: number, key: string][]>();
const inputSchema = z.object({ fails: z.number().default(0) });

const flaky = fakeTool(
  'flaky',
  ({ fails }, { toolCallId, attempt, idempotencyKey }) => {
    const seen = attempts.get(toolCallId) ?? [];
    attempts.set(toolCallId, [...seen, [attempt, idempotencyKey]]);
    if (attempt <= fails) throw new Error(`try ${String(attempt)}`);
    return { attempt };
  },
  { inputSchema, idempotent: true, retry: { attempts: 3, initialIntervalMs: 10 } },
);
const finishing = (name: string, more: object) =>
  fakeTool(name, () => 21, { finishWith: (output) => ({ answer: Number(output) * 2 }), ...more });
const define = (name: string, activities?: RunShape) =>
  fakeAgent(name, createScriptedModel(), {
    activities,
    tools: [flaky, finishing('answer', {}), finishing('answerAsked', { requireApproval: true })],
  });
const SHAPES = [
  ['', define('tooled')],
  [', in legs', define('tooled-leg', 'leg')],
] as const;

const { runs, stores } = useRuns(SHAPES.map(([, agent]) => agent));

async function perform(agent: AgentDefinition, ...script: object[]) {
  attempts.clear();
  const sessionId = runs.newSessionId();
  return runs.begin(sessionId, agent.name, JSON.stringify({ script }));
}

describe.each(SHAPES)('a tool that may be tried again%s', (_, agent) => {
  const play = (...script: object[]) => perform(agent, ...script);

  it('a tool that may be retried is retried until it succeeds, with one result, one activity and one key', async () => {
    const run = await play({ calls: [{ tool: 'flaky', id: 'f-2', args: { fails: 2 } }] });
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    const key = `${run.runId}/f-2`;
    expect(attempts.get('f-2')).toEqual([
      [1, key],
      [2, key],
      [3, key],
    ]);
    expect(await stores.store.sessions.rows(run.sessionId, 2, 3)).toMatchObject([
      { toolCallId: 'f-2', output: { attempt: 3 } },
    ]);
    const { events } = await runs.client.workflow.getHandle(workflowIdOf(run.runId)).fetchHistory();
    // A call that a busy worker does not take at once is scheduled again, on another task queue.
    const moved = (events ?? []).map((event) =>
      String(event.activityTaskTimedOutEventAttributes?.scheduledEventId),
    );
    const scheduled = (events ?? []).flatMap(
      ({ eventId, activityTaskScheduledEventAttributes: activity }) =>
        moved.includes(String(eventId)) ? [] : (activity?.activityType?.name ?? []),
    );
    const { activities } = agent;
    expect(scheduled).toEqual(
      activities === 'leg' ? ['leg'] : ['modelStep', 'toolCall', 'modelStep'],
    );
  });
});

describe.each(SHAPES)('a tool that ends the run%s', (_, agent) => {
  const play = (...script: object[]) => perform(agent, ...script);

  it('a tool that ends the run does so after its siblings, with what it makes of its result', async () => {
    const run = await play({ calls: [{ tool: 'answer' }, { tool: 'flaky', id: 'sibling' }] });
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 1 });
    expect(await stores.store.sessions.read(run.sessionId)).toMatchObject({
      status: 'completed',
      output: { answer: 42 },
    });
    expect(attempts.get('sibling')).toHaveLength(1);
    const rows = await stores.store.sessions.rows(run.sessionId, 2);
    expect(rows).toMatchObject([
      { output: 21 },
      { toolCallId: 'sibling' },
      // The message carries the run's output.
      { display: true, parts: [], output: { answer: 42 } },
    ]);
  });

  it('a tool that ends the run does so once a person has approved it, and if denied the model continues', async () => {
    const asks = (id: string): object => ({ calls: [{ tool: 'answerAsked', id }] });
    const [yes, no] = [await play(asks('yes')), await play(asks('no'), { say: 'Then not.' })];
    for (const run of [yes, no]) await runs.untilStatus(run.sessionId, 'waiting_approval');
    await runs.decide(yes, 'yes', true);
    await runs.decide(no, 'no', false);
    expect(await runs.result(yes)).toEqual({ status: 'completed', steps: 1 });
    expect(await runs.result(no)).toEqual({ status: 'completed', steps: 2 });
    const { store } = stores;
    expect((await store.sessions.read(yes.sessionId))?.output).toEqual({ answer: 42 });
    expect(await store.sessions.read(no.sessionId)).not.toHaveProperty('output');
  });
});
