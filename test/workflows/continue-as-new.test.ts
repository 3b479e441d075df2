import type { WorkflowHandle } from '@temporalio/client';
import { z } from 'zod';
import { createSubAgentTool, defineAgent, type AgentDefinition } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { AgentState, RunInput } from '../../protocol/run.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { QUERIES, SIGNALS } from '../../protocol/temporal.js';
import { argumentOf } from '../support/history-of.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Enough for two continue-as-new: the tests' server suggests one every 13 steps or so. */
const STEPS = 30;

const HELD = 'held';

/** Creates an agent that calls its tool in all steps but the last and counts its prompts. */
function createLongAgent(): AgentDefinition {
  const model = fakeModel((_, { prompt }) => {
    const step = prompt.filter(({ role }) => role === 'assistant').length + 1;
    const text = parts.text(`${String(step)} `);
    if (step === STEPS) return [...text, ...parts.finish()];
    return parts.asks(text, parts.call('again', 'note', {}));
  });
  return fakeAgent('long', model, { tools: [fakeTool('note', () => 'noted')], maxSteps: STEPS });
}

/** The names of agents whose models think, with the function that lets each speak. */
const thinking = new Map<string, () => void>();

const speaksWhenTold = (name: string) =>
  async function* () {
    await new Promise<void>((resolve) => thinking.set(name, resolve));
    yield* parts.says('well');
  };

/** Creates an agent that asks a sub-agent first. Both models speak only when the test tells them to. */
function createAskingAgent(): AgentDefinition {
  const base = { systemPrompt: '' };
  const helper = fakeModel(speaksWhenTold('helper'));
  const ask = createSubAgentTool({
    name: 'ask',
    description: 'Asks.',
    inputSchema: z.object({}),
    agent: defineAgent({ ...base, name: 'helper', llmConfig: { model: helper } }),
  });
  const model = fakeModel((n) =>
    n === 0 ? parts.asks(parts.call('a', 'ask', {})) : speaksWhenTold('asking')(),
  );
  return defineAgent({ ...base, name: 'asking', tools: [ask], llmConfig: { model } });
}

async function inputOf(execution: Pick<WorkflowHandle, 'fetchHistory'>): Promise<RunInput> {
  const { events } = await execution.fetchHistory();
  return argumentOf(events?.[0]?.workflowExecutionStartedEventAttributes) as RunInput;
}

async function isLong(execution: Pick<WorkflowHandle, 'fetchHistory'>): Promise<boolean> {
  const { events } = await execution.fetchHistory();
  return (events ?? []).some(
    (event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew,
  );
}

describe('a run too long for one history', () => {
  let stores: TestStores;
  let runs: RunHarness;
  /** Delays operators' requests about the call `HELD`. */
  let held: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const opened = await openTestStores();
    const { store } = opened;
    const { calls } = store;
    const read: typeof calls.read = async (sessionId, toolCallId) => {
      if (toolCallId === HELD) await held?.();
      return calls.read(sessionId, toolCallId);
    };
    stores = { ...opened, store: { ...store, calls: { ...calls, read } } };
    runs = await createRunHarness(stores, [createLongAgent(), createAskingAgent()]);
    await runs.startWorker();
  });

  it.concurrent('a long run continues as new without a change that readers could see', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, 'long', 'go');
    const workflowId = workflowIdOf(run.runId);
    const first = await runs.client.workflow.getHandle(workflowId).describe();
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: STEPS });

    const last = await runs.client.workflow.getHandle(workflowId).describe();
    expect(last.runId).not.toBe(first.runId);
    // The new execution keeps the search attributes.
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
  });

  it.concurrent(
    'a run that begins later still waits for its time when it continues as new before',
    async () => {
      const run = await runs.begin(runs.newSessionId(), 'long', 'go', Date.now() + 3_600_000);
      const workflow = runs.client.workflow.getHandle(workflowIdOf(run.runId));
      const first = (await workflow.describe()).runId;
      const looked = async (): Promise<boolean> => {
        await workflow.signal(SIGNALS.look);
        return (await workflow.describe()).runId !== first;
      };
      await until('it continues as new', looked);
      const phase = await until('it shows what it waits for', () =>
        workflow.query<AgentState>(QUERIES.agentState).then(
          (state) => state.phase,
          () => undefined,
        ),
      );
      expect(phase).toBe('start');
      await runs.executor.stop(run.sessionId, { mode: 'interrupt' });
      expect(await runs.result(run)).toMatchObject({ status: 'interrupted', steps: 0 });
    },
  );

  it.concurrent('a run that continues as new after a wait is listed as running', async () => {
    const run = await runs.begin(runs.newSessionId(), 'asking', 'go');
    const workflow = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const first = (await workflow.describe()).runId;
    const answer = await until('the sub-agent thinks', () => thinking.get('helper'));
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await until('the history is long', async () => {
      const woken = Array.from({ length: 20 }, () =>
        workflow.signal(SIGNALS.look, { traceparent }),
      );
      await Promise.all(woken);
      return isLong(workflow);
    });
    answer();
    const finish = await until('the next step thinks', () => thinking.get('asking'));
    const { runId, typedSearchAttributes } = await workflow.describe();
    expect(runId).not.toBe(first);
    const { from, ...input } = await inputOf(workflow);
    const begun = await inputOf(runs.client.workflow.getHandle(workflow.workflowId, first));
    expect(input).toEqual({ ...begun, traceparent });
    expect(from).toMatchObject({ step: 1, spent: { tokens: expect.any(Number) as unknown } });
    expect(Math.min(from?.known ?? 0, from?.version ?? 0)).toBeGreaterThan(0);
    expect(typedSearchAttributes.getAll()).toContainEqual(
      expect.objectContaining({
        key: expect.objectContaining({ name: 'AgentStatus' }),
        value: 'running',
      }),
    );
    finish();
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
  });

  it.concurrent('a long run obeys a stop, whenever it comes around the change', async () => {
    const stops = [12, 13, 14];
    const ends = stops.map(async (step) => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, 'long', 'go');
      await until(`step ${String(step)}`, async () => {
        const record = await stores.store.sessions.read(id);
        return record !== undefined && record.committedStep >= step;
      });
      await runs.executor.stop(id, { mode: 'interrupt' });
      return runs.result(run);
    });
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ status: 'interrupted' });
  });

  it.concurrent(
    "an operator's request that is being carried out at the change, or at the end, gets its answer",
    async () => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, 'long', 'go');
      const workflow = runs.client.workflow.getHandle(workflowIdOf(run.runId));
      const { runId: first } = await workflow.describe();
      const toTheChange = await askHeld(workflow);
      expect(toTheChange).toBe('not_pending');
      await until(
        'it has continued as new',
        async () => (await workflow.describe()).runId !== first,
      );
      const toTheEnd = await askHeld(workflow, () => runs.executor.stop(id, { mode: 'abort' }));
      expect(toTheEnd).toBe('not_pending');
      expect(await runs.result(run)).toMatchObject({ status: 'aborted' });
    },
  );

  /** Sends a request that is carried out until the execution has nothing else left to do, by its length or a stop. */
  async function askHeld(
    workflow: WorkflowHandle,
    stop?: () => Promise<unknown>,
  ): Promise<unknown> {
    const { workflowId } = workflow;
    const execution = runs.client.workflow.getHandle(workflowId, (await workflow.describe()).runId);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => {
      held = () => {
        resolve();
        return released;
      };
    });
    const answered = workflow
      .executeUpdate('deny', { args: [{ toolCallId: HELD }] })
      .catch((error: unknown) => (error as { cause?: { type?: string } }).cause?.type ?? error);
    await reached;
    await stop?.();
    await until('the execution has nothing left to do but this', async () => {
      const { raw, status } = await execution.describe();
      if (status.name !== 'RUNNING') return true;
      if (raw.pendingActivities?.length !== 1 || raw.pendingWorkflowTask != null) return false;
      return stop !== undefined || isLong(execution);
    });
    release();
    return answered;
  }
});
