import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
} from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunShape } from '../../protocol/run.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { createTakeOver } from '../../worker/take-over.js';
import { createRunHarness, useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';
import { fakeTool } from '../support/fake-tool.js';

const OTHER_QUEUE = `other-${randomBytes(6).toString('hex')}`;
const inputSchema = z.object({});
/** Begun calls by id, with the function that ends a `hold`. */
const held = new Map<string, () => void>();
const tools = [
  defineTool({ name: 'echo', description: 'Echoes.', inputSchema, execute: () => 'ok' }),
  fakeTool('charge', () => 'charged', { inputSchema, requireApproval: true }),
  fakeTool(
    'hold',
    (_, { toolCallId }) =>
      new Promise((resolve) => {
        held.set(toolCallId, () => {
          resolve('held');
        });
      }),
    { inputSchema },
  ),
  fakeTool('far', () => 'never', {
    inputSchema,
    activity: { taskQueue: 'unpolled', scheduleToStartTimeout: 500 },
  }),
  fakeTool('elsewhere', () => 'there', { inputSchema, activity: { taskQueue: OTHER_QUEUE } }),
  fakeTool('once', (_, { attempt }) => attempt, {
    inputSchema,
    activity: { startToCloseTimeout: 90_000, retry: { maximumAttempts: 1 } },
  }),
  fakeTool(
    'holdTwice',
    (_, { toolCallId }) =>
      new Promise((resolve) => {
        const former = held.get(toolCallId);
        held.set(toolCallId, () => {
          former?.();
          resolve('late');
        });
      }),
    { inputSchema, idempotent: true, activity: { retry: { maximumAttempts: 2 } } },
  ),
];

const define = (name: string, activities?: RunShape) => {
  const llmConfig = { model: createScriptedModel() };
  const base = { systemPrompt: '', llmConfig, activities };
  const child = defineAgent({ name: `${name}-child`, tools, ...base });
  const delegate = createSubAgentTool({
    name: 'delegate',
    description: 'Delegates.',
    inputSchema: z.object({ script: z.array(z.unknown()) }),
    agent: child,
  });
  return defineAgent({ name, tools: [...tools, delegate], ...base });
};
const usual = define('usual');
const legged = define('legged', 'leg');

const { runs, stores } = useRuns([usual, legged]);

const calls = (...names: string[]): object => ({ calls: names.map((tool) => ({ tool })) });

function play(agent: string, ...script: object[]): Promise<RunRecord> {
  return runs.begin(runs.newSessionId(), agent, JSON.stringify({ script }));
}

let others: Promise<unknown> | undefined;

/** Starts the worker of the other task queue, which both shapes share. */
async function startOthers(): Promise<void> {
  others ??= createRunHarness(stores, [usual, legged], undefined, OTHER_QUEUE).then((harness) =>
    harness.startWorker(),
  );
  await others;
}

async function eventsOf({ runId }: RunRecord) {
  const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  return events ?? [];
}

async function activitiesOf(run: RunRecord): Promise<string[]> {
  return (await eventsOf(run)).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
}

async function detailsOf({ runId }: RunRecord): Promise<string | undefined> {
  const handle = runs.client.workflow.getHandle(workflowIdOf(runId));
  return (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata'))
    .currentDetails;
}

async function toolCallsOf(run: RunRecord) {
  return (await eventsOf(run)).flatMap(({ activityTaskScheduledEventAttributes: attributes }) =>
    attributes?.activityType?.name === 'toolCall' ? attributes : [],
  );
}

/** Takes an attempt over, like a judge that wrongly declares a live worker dead. */
async function loseAttempt({ runId }: RunRecord, number: number): Promise<void> {
  const leases = stores.store.leases?.of('default');
  for (const holder of (await leases?.holders()) ?? []) {
    for (const work of (await leases?.work(holder)) ?? []) {
      const isIt = work.workflowId === workflowIdOf(runId) && work.number === number;
      if (isIt) await createTakeOver(runs.client)(work);
    }
  }
}

describe('a run in legs', () => {
  it.concurrent(
    'of five steps with four tools has at most 15 events, and a table for operators',
    async () => {
      const step = calls('echo');
      const wide = calls(...Array.from({ length: 11 }, () => 'echo'));
      const run = await play('legged', step, wide, step, step);
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 5 });
      const events = await eventsOf(run);
      expect(events.length).toBeLessThanOrEqual(15);
      expect(await activitiesOf(run)).toEqual(['leg']);
      const details = await detailsOf(run);
      expect(details).toMatch(/`echo` \d+ ms: ok<br>1 more \|/);
      expect(details).toMatch(/ step 5 · ended\n\nUsed so far: [\d,]+ tokens/);
      expect(details).toMatch(/\| Step \| Model \| ms \| Tokens in \/ out \| Calls \|/);
      expect(details).toMatch(/\| 4 \| \S+ \| \d+ \| \d+ \/ \d+ \| `echo` \d+ ms: ok \|/);
    },
  );

  it.concurrent('waits for people in the workflow, and continues with one more leg', async () => {
    const script = { calls: [{ tool: 'charge', id: 'c' }] };
    const run = await play('legged', script);
    await runs.untilStatus(run.sessionId, 'waiting_approval');
    expect(await runs.decide(run, 'c', true)).toBe('stored');
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect(await activitiesOf(run)).toEqual(['leg', 'leg']);
    expect((await detailsOf(run))?.match(/^\| \d/gm)).toEqual(['| 1', '| 1', '| 2']);
    const rows = await stores.store.sessions.rows(run.sessionId, 2, 3);
    expect(rows).toMatchObject([{ output: 'charged' }]);
  });

  it.concurrent('executes what people approve beside the other calls of the step', async () => {
    const ids = { held: `h-${runs.newSessionId()}`, asked: `c-${runs.newSessionId()}` };
    const run = await play('legged', {
      calls: [
        { tool: 'hold', id: ids.held },
        { tool: 'charge', id: ids.asked },
      ],
    });
    const release = await until('the tool is executed', () => held.get(ids.held));
    expect(await runs.decide(run, ids.asked, true)).toBe('stored');
    await until('the approved call is settled', async () => {
      return (await stores.store.calls.read(run.sessionId, ids.asked))?.state === 'settled';
    });
    release();
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect(await activitiesOf(run)).toEqual(['leg', 'toolCall', 'toolCall', 'leg']);
  });

  it.concurrent(
    'leaves a step with a sub-agent to the workflow, and the sub-agent has legs, too',
    async () => {
      const script = [calls('echo'), { say: 'three' }];
      const run = await play(
        'legged',
        calls('echo'),
        { calls: [{ tool: 'delegate', args: { script } }, { tool: 'echo' }] },
        calls('echo'),
      );
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 4 });
      expect(await activitiesOf(run)).toEqual(['leg', 'toolCall', 'leg']);
      const started = (await eventsOf(run)).flatMap(
        (event) =>
          event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
      );
      const { events } = await runs.client.workflow.getHandle(started[0] ?? '').fetchHistory();
      expect(events?.length).toBeLessThanOrEqual(15);
    },
  );

  it.concurrent(
    'is handed over by a worker that shuts down, at the next step boundary',
    async () => {
      const id = `h-${runs.newSessionId()}`;
      const own = await createRunHarness(stores, [legged]);
      const worker = await own.startWorker();
      const script = [{ calls: [{ tool: 'hold', id }] }, calls('echo')];
      const run = await own.begin(own.newSessionId(), 'legged', JSON.stringify({ script }));
      const release = await until('the tool is executed', () => held.get(id));
      const next = own.startWorker();
      const stopped = worker.stop();
      // A worker that was asked to stop reports that state at once.
      release();
      await Promise.all([stopped, next]);
      expect(await own.result(run)).toEqual({ status: 'completed', steps: 3 });
      expect(await activitiesOf(run)).toEqual(['leg', 'leg']);
    },
  );
});

describe.each(['usual', 'legged'])(
  'a tool with an activity of its own, of the agent %s',
  (agent) => {
    it.concurrent('is executed with the settings of the tool', async () => {
      const run = await play(agent, calls('once'));
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
      const scheduled = await toolCallsOf(run);
      expect(scheduled).toMatchObject([
        {
          retryPolicy: { maximumAttempts: 1 },
          startToCloseTimeout: { seconds: expect.anything() },
        },
      ]);
      expect(Number(scheduled[0]?.startToCloseTimeout?.seconds)).toBe(90);
    });

    it.concurrent('is executed by the workers of its task queue', async () => {
      const run = await play(agent, calls('elsewhere'));
      await until('the call is scheduled', async () =>
        (await activitiesOf(run)).includes('toolCall'),
      );
      const [scheduled] = await toolCallsOf(run);
      expect(scheduled?.taskQueue?.name).toBe(OTHER_QUEUE);
      await startOthers();
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
      expect(await stores.store.sessions.rows(run.sessionId, 2, 3)).toMatchObject([
        { output: 'there' },
      ]);
    });

    it.concurrent(
      'is attempted no more often than its author allows, lost attempts included',
      async () => {
        const id = `h-${runs.newSessionId()}`;
        const run = await play(agent, { calls: [{ tool: 'holdTwice', id }] });
        for (const attempts of [1, 2]) {
          await until('an attempt is lost', async () => {
            const { length } = await toolCallsOf(run);
            if (length === attempts) await loseAttempt(run, attempts);
            return length > attempts;
          });
        }
        expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
        // The lost attempts' executions end too late to count.
        held.get(id)?.();
        const max = (await toolCallsOf(run)).map(({ retryPolicy }) => retryPolicy?.maximumAttempts);
        // The last attempt settles the call.
        expect(max).toEqual([2, 1, 0]);
        expect(await stores.store.sessions.rows(run.sessionId, 2, 3)).toMatchObject([
          { errorCode: 'tool_execution_failed' },
        ]);
      },
    );

    it.concurrent('gives the model an error if its activity fails for good', async () => {
      const run = await play(agent, calls('far'));
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
      expect(await stores.store.sessions.rows(run.sessionId, 2, 3)).toMatchObject([
        { errorCode: 'tool_timeout' },
      ]);
    });
  },
);
