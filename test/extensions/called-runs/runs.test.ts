import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { WorkflowHandle } from '@temporalio/client';
import { createReporter } from '../../../examples/own-workflow/agent.js';
import { calledRuns } from '../../../extensions/called-runs/index.js';
import { limits, toQuotas } from '../../../extensions/limits/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { workflowIdOf } from '../../../protocol/ids.js';
import { TIMES } from '../../../protocol/limits.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { createAgentPlugin } from '../../../worker/index.js';
import type { BeginInput } from '../../../store/contract/runs.js';
import { changing } from '../../support/session-driver.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import {
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../../support/run-harness.js';
import { createTestAgent } from '../../support/test-agent.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';
import type { HistoryEvent } from '../../support/history-of.js';
import { until } from '../../support/until.js';

/** Waits for an event with these attributes and returns the events from there on. */
function untilEvent(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[]> {
  return until(attributes, () => eventsSince(handle, attributes));
}

/** Waits like `untilEvent`, and until the workflow has handled the event. */
function untilTaskAfter(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[]> {
  return until(`a workflow task after ${attributes}`, async () => {
    const since = await eventsSince(handle, attributes);
    return since?.some((event) => event.workflowTaskCompletedEventAttributes != null) && since;
  });
}

async function eventsSince(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[] | undefined> {
  const { events } = await handle.fetchHistory();
  const at = events?.findIndex((event) => event[attributes] != null) ?? -1;
  return at < 0 ? undefined : events?.slice(at);
}

let stores: TestStores;
let connection: NativeConnection;
let runs: RunHarness;
let worker: Worker;
let ended: Promise<void>;
const gated = createGatedAgent();
const { agent: tester } = createTestAgent();
const published: string[] = [];
const reporter = createReporter((text) => published.push(text));
const agents = [gated.agent, tester, reporter];
const workflowsPath = fileURLToPath(new URL('./callers.ts', import.meta.url));

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, agents);
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  worker = await Worker.create({
    connection,
    taskQueue: runs.taskQueue,
    workflowsPath,
    activities: { loadFigures: (customer: string) => `${customer} sold 3` },
    plugins: [
      createAgentPlugin({
        agents,
        stores: holding(stores),
        extensions: [calledRuns(), limits({ quotas: toQuotas({ sessions: 2 }) })],
      }),
    ],
  });
  ended = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await ended;
  await connection.close();
});

const start = (type: string, ...args: unknown[]) =>
  runs.client.workflow.start(type, {
    workflowId: `caller-${randomUUID()}`,
    taskQueue: runs.taskQueue,
    args,
  });
const call = async (type: string, ...args: unknown[]): Promise<unknown> =>
  (await start(type, ...args)).result();

/** Returns the error type that fails the workflow. */
async function refusal(...args: unknown[]): Promise<unknown> {
  const error = await call('ask', ...args).then(
    () => undefined,
    (failed: unknown) => failed,
  );
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('type' in at && at.type !== undefined) return at.type;
  }
  return error;
}

/** Fate of a held `begin`: not recorded until it is released, recorded before, or recorded with a reply that is lost. */
type Fate = 'late' | 'recorded' | 'lost';
const held = new Map<string, { fate: Fate; reached: () => void; released: Promise<void> }>();

/** Holds the `begin` of a message. */
function hold(messageId: string, fate: Fate): { reached: Promise<void>; release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    held.set(messageId, { fate, reached: resolve, released });
  });
  return { reached, release };
}

function holding({ store, ...rest }: TestStores): TestStores {
  const holdingOf = (begin: typeof store.runs.begin) => async (input: BeginInput) => {
    const { fate, reached, released } = held.get(input.messages[0]?.id ?? '') ?? {};
    const result = fate === 'late' ? undefined : await begin(input);
    reached?.();
    await released;
    if (fate === 'lost') throw new HelixError('unavailable', 'The reply was lost.');
    return result ?? begin(input);
  };
  return {
    ...rest,
    store: changing(store, (changes) => {
      const { runs } = changes;
      return { ...changes, runs: { ...runs, begin: holdingOf(runs.begin) } };
    }),
  };
}

/** Returns a new conversation of a new user. */
const conversation = (): { sessionId: string; userId: string } => ({
  sessionId: runs.newSessionId(),
  userId: someone(),
});

const someone = (): string => `u-${randomUUID()}`;

describe('runAgent in a workflow of its own', () => {
  it.concurrent(
    'the agent runs as a child with the id of its run, in a conversation of the named owner',
    async () => {
      const owner = { userId: someone(), tenantId: `t-${randomUUID()}` };
      const sessionId = runs.newSessionId();
      const handle = await start('ask', tester.name, 'hello', { ...owner, sessionId });
      const result = (await handle.result()) as { runId: string };
      expect(result).toMatchObject({ status: 'completed', text: 'You said hello', sessionId });
      expect(result).toHaveProperty('usage.inputTokens');
      const { runId } = result;
      const run = runs.client.workflow.getHandle(workflowIdOf(runId));
      const described = await run.describe();
      const { parentExecution, typedSearchAttributes, raw } = described;
      expect(await described.staticSummary()).toContain(`${tester.name}: turn 1 of `);
      expect(await described.staticDetails()).toContain(sessionId);
      const [started] = (await run.fetchHistory()).events ?? [];
      const { workflowTaskTimeout } = started?.workflowExecutionStartedEventAttributes ?? {};
      expect(Number(workflowTaskTimeout?.seconds)).toBe(TIMES.workflowTaskMs / 1_000);
      expect(parentExecution?.workflowId).toBe(handle.workflowId);
      expect(JSON.stringify(typedSearchAttributes)).toContain(owner.tenantId);
      const { priority } = raw.workflowExecutionInfo ?? {};
      expect(priority?.fairnessKey).toBe(owner.tenantId);
      const record = await stores.store.sessions.read(runId.slice(0, runId.lastIndexOf(':')));
      expect(record).toMatchObject({ owner: owner.userId, tenant: owner.tenantId });
    },
  );

  it.concurrent('calls of one conversation are turns of it', async () => {
    const { sessionId, userId } = conversation();
    expect(await call('askTwice', tester.name, { sessionId, userId })).toEqual([
      'You said one',
      'You said two',
    ]);
    expect(await stores.store.runs.list(sessionId)).toHaveLength(2);
  });

  it.concurrent('a run that waits for people takes as long as they do', async () => {
    const { sessionId, userId } = conversation();
    const text = JSON.stringify({ calls: [{ tool: 'charge', id: 'c1' }] });
    const handle = await start('ask', tester.name, text, { sessionId, userId });
    const { runId } = await runs.untilStatus(sessionId, 'waiting_approval');
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await runs.executor.submitToolResult({
      sessionId,
      kind: 'approval-response',
      toolCallId: 'c1',
      approved: true,
      by: 'ann',
      approvalId: `${runId}::c1`,
    });
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'done' });
  });

  it.concurrent('a run that fails is a result with its error', async () => {
    expect(
      await call('ask', tester.name, JSON.stringify({ fail: true }), conversation()),
    ).toMatchObject({
      status: 'failed',
      error: { code: 'provider_unauthorized' },
    });
  });
});

describe('a run whose caller ends', () => {
  it.concurrent.each([
    ['is cancelled', 'cancel'],
    ['is terminated', 'terminate'],
  ] as const)('a run is stopped when the workflow that called it %s', async (_, verb) => {
    const gate = randomUUID();
    const { sessionId, userId } = conversation();
    const handle = await start('ask', gated.agent.name, `speak ${gate}`, { sessionId, userId });
    await gated.reached(gate);
    await handle[verb]();
    await expect(handle.result()).rejects.toThrow();
    const { status } = await runs.untilStatus(sessionId, 'interrupted', 'completed', 'failed');
    expect(status).toBe('interrupted');
  });

  it.concurrent('a cancelled scope stops its run and throws once it has stopped', async () => {
    const gate = randomUUID();
    const handle = await start('askInScope', gated.agent.name, `speak ${gate}`, conversation());
    await gated.reached(gate);
    await handle.signal('enough');
    expect(await handle.result()).toBe('cancelled');
  });

  it.concurrent('a cancel does not reach runs of a scope that is shielded from it', async () => {
    const gate = randomUUID();
    const handle = await start('askShielded', gated.agent.name, `speak ${gate}`, conversation());
    await gated.reached(gate);
    await handle.cancel();
    const since = await untilTaskAfter(handle, 'workflowExecutionCancelRequestedEventAttributes');
    expect(since.filter((event) => event.activityTaskScheduledEventAttributes != null)).toEqual([]);
    gated.open(gate);
    expect(await handle.result()).toEqual(['completed', 'completed']);
  });

  it.concurrent.each(['late', 'lost'] as const)(
    'a run whose caller is cancelled before it learns of the run is stopped: %s',
    async (fate) => {
      const owner = { ...conversation(), tenantId: `t-${randomUUID()}` };
      const messageId = `${fate}-${owner.sessionId}`;
      const begin = hold(messageId, fate);
      const handle = await start('ask', tester.name, 'hello', { ...owner, messageId });
      await begin.reached;
      await handle.cancel();
      await untilEvent(handle, 'activityTaskCancelRequestedEventAttributes');
      begin.release();
      await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
      const stored = toStoredSessionId(owner.sessionId, owner.tenantId);
      expect(await stores.store.sessions.read(stored)).toMatchObject({ status: 'interrupted' });
    },
  );

  it.concurrent('a run that is to outlive its caller does', async () => {
    const gate = randomUUID();
    const options = { ...conversation(), parentClosePolicy: 'ABANDON' };
    const handle = await start('ask', gated.agent.name, `speak ${gate}`, options);
    await gated.reached(gate);
    const initiated = 'startChildWorkflowExecutionInitiatedEventAttributes';
    const [child] = await untilEvent(handle, initiated);
    // Temporal's enum: 2 abandons it.
    expect(child?.[initiated]?.parentClosePolicy).toBe(2);
    await handle.terminate();
    gated.open(gate);
    await runs.untilStatus(options.sessionId, 'completed');
  });

  it.concurrent('a workflow aborts its run', async () => {
    const gate = randomUUID();
    const { sessionId, userId } = conversation();
    const options = { sessionId, userId };
    const handle = await start('askUntilEnough', gated.agent.name, `speak ${gate}`, options);
    await gated.reached(gate);
    await handle.signal('enough');
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: 'framework_cancelled' },
      text: 'Once upon',
    });
    expect(await stores.store.sessions.read(sessionId)).toMatchObject({
      interrupted: { mode: 'abort', reason: 'enough' },
    });
  });
});

describe('a run that may not begin', () => {
  it.concurrent('a refused run fails its caller with the code of the refusal', async () => {
    const [unknown, badId] = [someone(), someone()].map((userId) => ({ userId }));
    const { sessionId, userId } = conversation();
    const refusals = [
      refusal('stranger', 'hello', unknown),
      refusal(tester.name, 'hello', { ...badId, sessionId: 'no id' }),
      refusal(tester.name, '', { userId: '' }),
      refusal(tester.name, { text: 'x' }),
    ];
    await call('ask', tester.name, 'hello', { sessionId, userId });
    refusals.push(
      refusal(tester.name, 'hello', { sessionId, userId: someone() }),
      refusal(gated.agent.name, 'hello', { sessionId, userId }),
    );
    await call('ask', tester.name, 'hello', { userId });
    refusals.push(refusal(tester.name, 'hello', { userId }));
    expect(await Promise.all(refusals)).toEqual([
      'agent_not_found',
      'validation_error',
      'validation_error',
      'validation_error',
      'not_found',
      'agent_mismatch',
      'quota_exceeded',
    ]);
  });

  it.concurrent('a busy conversation refuses the run, or lets it wait', async () => {
    const gate = randomUUID();
    const { sessionId, userId } = conversation();
    const first = await start('ask', gated.agent.name, `speak ${gate}`, { sessionId, userId });
    await gated.reached(gate);
    expect(await refusal(gated.agent.name, 'two', { sessionId, userId })).toBe(
      'agent_already_running',
    );
    const options = { sessionId, userId, whenBusy: 'wait' };
    const waiting = await start('ask', gated.agent.name, 'three', options);
    const cancelled = await start('ask', gated.agent.name, 'four', options);
    await cancelled.cancel();
    await expect(cancelled.result()).rejects.toThrow();
    gated.open(gate);
    expect(await first.result()).toMatchObject({ status: 'completed' });
    expect(await waiting.result()).toMatchObject({ text: 'You said three' });
    expect(await stores.store.runs.list(sessionId)).toHaveLength(2);
  });
});

it.concurrent('a run that another workflow started is waited for, too', async () => {
  const gate = randomUUID();
  const options = { ...conversation(), messageId: 'once' };
  const ask = [gated.agent.name, `speak ${gate}`, options];
  const first = await start('ask', ...ask);
  await gated.reached(gate);
  const second = await start('ask', ...ask);
  gated.open(gate);
  expect(await second.result()).toEqual(await first.result());
});

it.concurrent('a run that a sweep starts before its caller does is waited for, too', async () => {
  const { sessionId, userId } = conversation();
  const messageId = `swept-${sessionId}`;
  const begin = hold(messageId, 'recorded');
  const handle = await start('ask', tester.name, 'hello', { sessionId, userId, messageId });
  await begin.reached;
  await runs.sweepUntil(sessionId, 'it runs', ({ status }) => status === 'completed');
  begin.release();
  const result = (await handle.result()) as { runId: string };
  expect(result).toMatchObject({ status: 'completed', text: 'You said hello' });
  const workflow = runs.client.workflow.getHandle(workflowIdOf(result.runId));
  expect((await workflow.describe()).parentExecution).toBeUndefined();
});

it.concurrent(
  'the example loads figures, has an agent write and a person approve, and returns the report',
  async () => {
    const customer = randomUUID();
    const sessionId = `report-${customer}`;
    const handle = await start('report', customer, someone());
    await runs.untilStatus(sessionId, 'waiting_approval');
    const view = await stores.store.sessions.view(sessionId);
    const [{ runId, toolCallId } = { runId: '', toolCallId: '' }] =
      view?.openCalls.map(({ spec }) => spec) ?? [];
    await runs.executor.submitToolResult({
      sessionId,
      kind: 'approval-response',
      toolCallId,
      approved: true,
      by: 'ann',
      approvalId: `${runId}::${toolCallId}`,
    });
    expect(await handle.result()).toBe('The report is out.');
    expect(published).toEqual([`Figures of ${customer}: ${customer} sold 3`]);
  },
);
