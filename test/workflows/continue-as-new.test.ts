import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

/** Beyond two of the new executions that the tests' server suggests every 35 steps or so. */
const STEPS = 80;

/** Calls its tool in every step but the last, and says how often it was asked. */
function createLongAgent(): AgentDefinition {
  const model = fakeModel((_, { prompt }) => {
    const step = prompt.filter(({ role }) => role === 'assistant').length + 1;
    const text = parts.text(`${String(step)} `);
    if (step === STEPS) return [...text, ...parts.finish()];
    return [...text, ...parts.call('again', 'note', {}), ...parts.finish('tool-calls')];
  });
  return defineAgent({
    name: 'long',
    systemPrompt: '',
    tools: [
      defineTool({
        name: 'note',
        description: 'Takes a note.',
        inputSchema: z.object({}),
        execute: () => 'noted',
      }),
    ],
    llmConfig: { model },
    maxSteps: STEPS,
  });
}

describe('a run too long for one history', () => {
  let stores: TestStores;
  let runs: RunHarness;
  beforeAll(async () => {
    stores = await openTestStores();
    runs = await createRunHarness(stores, [createLongAgent()]);
    await runs.startWorker();
  });

  it('a long run continues as new without a change that readers could see', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, 'long', 'go');
    const workflowId = workflowIdOf(run.runId);
    const first = await runs.client.workflow.getHandle(workflowId).describe();
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: STEPS });

    const last = await runs.client.workflow.getHandle(workflowId).describe();
    expect(last.runId).not.toBe(first.runId);
    // What operators find it by goes along.
    expect(last.typedSearchAttributes.getAll()).toEqual(
      expect.arrayContaining(
        [
          ['AgentSession', id],
          ['AgentName', 'long'],
          ['AgentStatus', 'completed'],
          ['AgentTenant', 'acme'],
        ].map(([name, value]) =>
          expect.objectContaining({ key: expect.objectContaining({ name }), value }),
        ),
      ),
    );
    const rows = await stores.store.sessions.rows(id, 0);
    const replies = rows.filter((row) => row.role === 'assistant');
    expect(replies.map(({ step }) => step)).toEqual(
      Array.from({ length: STEPS }, (_, index) => index + 1),
    );
    const calls = replies.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
    );
    const results = rows.flatMap((row) => (row.role === 'tool' ? [row.toolCallId] : []));
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(STEPS - 1);
  }, 90_000);

  it('a long run obeys a stop, whenever it comes around the change', async () => {
    const stops = [33, 34, 35];
    const ends = stops.map(async (step) => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, 'long', 'go');
      await until(
        `step ${String(step)}`,
        async () => {
          const record = await stores.store.sessions.read(id);
          return record !== undefined && record.committedStep >= step;
        },
        60_000,
      );
      await runs.executor.stop(id, { mode: 'interrupt' });
      return runs.result(run);
    });
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ status: 'interrupted' });
  }, 90_000);
});
