import { workflowIdOf } from '../../protocol/ids.js';
import type { AgentState } from '../../protocol/run.js';
import { useRuns } from '../support/run-harness.js';
import { drive, textIn } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { until } from '../support/until.js';

const SHAPES = [
  ['a run on a worker', createTestAgent()],
  ['a run in legs', createTestAgent('tester-leg', 'leg')],
] as const;

const { runs, stores } = useRuns(SHAPES.map(([, { agent }]) => agent));

const wish = (value: object): string => JSON.stringify(value);
const asks = (...calls: [tool: string, id: string][]): string =>
  wish({ calls: calls.map(([tool, id]) => ({ tool, id })) });

async function rolesOf(sessionId: string): Promise<string[]> {
  return (await stores.store.sessions.rows(sessionId, 0)).map(({ role }) => role);
}

describe.each(SHAPES)('%s', (_, { agent, executed }) => {
  it('of text alone completes in one step, with a handful of events', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, 'hello');
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 1 });
    expect(textIn(await stores.streamManager.read(id, 0, 100))).toBe('You said hello');
    const { events } = await runs.client.workflow.getHandle(workflowIdOf(run.runId)).fetchHistory();
    expect(events?.length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(events)).not.toContain('You said');
  });

  it('a run executes the tools of a step, each once, and continues', async () => {
    const id = runs.newSessionId();
    const calls = ['a', 'b', 'c'].map((name): [string, string] => ['echo', `${id}-${name}`]);
    const run = await runs.begin(id, agent.name, asks(...calls));
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect(executed.filter((call) => call.startsWith(id)).sort()).toEqual(
      calls.map(([, call]) => call),
    );
    expect(await rolesOf(id)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool', 'assistant']);
  });

  it('a run waits for an approval, and executes only approved calls', async () => {
    const id = runs.newSessionId();
    const [yes, no] = [`${id}-yes`, `${id}-no`];
    const run = await runs.begin(id, agent.name, asks(['charge', yes], ['charge', no]));
    await runs.untilStatus(id, 'waiting_approval');
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const state = await until('the workflow waits', async () => {
      const reply = await handle.query<AgentState>('agentState');
      return reply.phase === 'waiting' ? reply : undefined;
    });
    expect(state.waitingFor.map(({ toolCallId }) => toolCallId)).toEqual([yes, no]);
    expect(await runs.decide(run, no, false)).toBe('stored');
    expect(await runs.decide(run, yes, true)).toBe('stored');
    expect(await runs.decide(run, yes, false)).toBe('already_completed');
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect(executed.filter((call) => call.startsWith(id))).toEqual([yes]);
    expect(await stores.store.sessions.rows(id, 2, 4)).toMatchObject([
      { toolCallId: yes, output: { done: yes } },
      { toolCallId: no, denied: true },
    ]);
  });

  it('stopped while it waits is over at once, workflow included', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, asks(['charge', `${id}-c`]));
    await runs.untilStatus(id, 'waiting_approval');
    expect(await runs.executor.stop(id, { mode: 'interrupt', reason: 'bye' })).toEqual({
      kind: 'ended',
      runId: run.runId,
    });
    expect(await runs.result(run)).toEqual({ status: 'interrupted', steps: 1 });
    expect(executed.some((call) => call.startsWith(id))).toBe(false);
  });

  it('a run keeps the partial reply when it is stopped while the model streams', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, wish({ hang: true }));
    await until(
      'it speaks',
      async () => textIn(await stores.streamManager.read(id, 0, 9)) === 'And',
    );
    await runs.executor.stop(id, { mode: 'abort' });
    expect(await runs.result(run)).toEqual({ status: 'aborted', steps: 1 });
    expect(await stores.store.sessions.rows(id, 1)).toMatchObject([
      { interrupted: 'abort', parts: [{ text: 'And' }] },
    ]);
  });

  it('cancelled in Temporal stops: while the model speaks and while it waits', async () => {
    const speaking = runs.newSessionId();
    const one = await runs.begin(speaking, agent.name, wish({ hang: true }));
    await until(
      'it speaks',
      async () => textIn(await stores.streamManager.read(speaking, 0, 9)) === 'And',
    );
    const waiting = runs.newSessionId();
    const two = await runs.begin(waiting, agent.name, asks(['charge', `${waiting}-c`]));
    await runs.untilStatus(waiting, 'waiting_approval');
    for (const { runId } of [one, two]) {
      await runs.client.workflow.getHandle(workflowIdOf(runId)).cancel();
    }
    expect(await runs.result(one)).toEqual({ status: 'interrupted', steps: 1 });
    expect(await runs.result(two)).toEqual({ status: 'interrupted', steps: 1 });
    expect(await stores.store.sessions.rows(speaking, 1)).toMatchObject([
      { interrupted: 'interrupt', parts: [{ text: 'And' }] },
    ]);
    const session = drive(stores, waiting);
    expect(await session.messages('run_interrupted')).toMatchObject([
      { reason: 'cancelled in Temporal' },
    ]);
  });

  it('a run that fails fails its workflow with the typed code, and the session stays usable', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, wish({ fail: true }));
    expect(await runs.result(run)).toEqual({ failed: 'provider_unauthorized' });
    expect(await stores.store.sessions.read(id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_unauthorized' },
    });
    const next = await runs.begin(id, agent.name, 'again');
    expect(await runs.result(next)).toEqual({ status: 'completed', steps: 1 });
  });

  it('abandoned while it waits gives way, and its workflow ends', async () => {
    const id = runs.newSessionId();
    const old = await runs.begin(id, agent.name, asks(['charge', `${id}-c`]));
    await runs.untilStatus(id, 'waiting_approval');
    const next = await runs.begin(id, agent.name, 'never mind');
    expect(await runs.result(next)).toEqual({ status: 'completed', steps: 1 });
    expect(await runs.result(old)).toEqual({ status: 'superseded', steps: 1 });
    const closed = await runs.client.workflow.getHandle(workflowIdOf(old.runId)).describe();
    expect(JSON.stringify(closed.typedSearchAttributes)).toContain('"interrupted"');
    expect(await rolesOf(id)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
  });

  it('operators can find and read a run', async () => {
    const id = runs.newSessionId();
    const calls = [{ tool: 'charge', id: `${id}-c` }];
    const run = await runs.begin(id, agent.name, wish({ calls, hang: true }));
    await runs.untilStatus(id, 'waiting_approval');
    const listedAs = (status: string) =>
      until(`it is listed as ${status}`, async () => {
        const query = `AgentSession = '${id}' AND AgentStatus = '${status}'`;
        for await (const found of runs.client.workflow.list({ query })) return found;
        return undefined;
      });
    const listed = await listedAs('waiting_approval');
    expect(listed.workflowId).toBe(workflowIdOf(run.runId));
    const attributes = listed.typedSearchAttributes.getAll();
    expect(Object.fromEntries(attributes.map(({ key, value }) => [key.name, value]))).toMatchObject(
      {
        AgentName: agent.name,
        AgentTenant: 'acme',
        AgentModel: 'fake:1',
        AgentTurn: 1,
      },
    );
    const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
    const described = await handle.describe();
    expect(described.raw.workflowExecutionInfo?.priority).toMatchObject({ fairnessKey: 'acme' });
    expect(await described.staticSummary()).toBe(`${agent.name}: turn 1 of ${id}`);
    expect(await described.staticDetails()).toContain(`http://page/${id}`);
    await runs.decide(run, `${id}-c`, true);
    await listedAs('running');
    await runs.executor.stop(id, { mode: 'interrupt' });
    await runs.result(run);
    await listedAs('interrupted');
  });
});

it.each([
  ['agentRun', []],
  ['agentRun', [null]],
  ['agentRun', [{ sessionId: 's', runId: 5 }]],
  ['agentToolWork', []],
  ['agentToolWork', [{}]],
])('the workflow %s, started by hand with the arguments %j, fails at once', async (type, args) => {
  const workflowId = runs.newSessionId();
  const { taskQueue, client } = runs;
  const run = client.workflow.execute(type, { workflowId, taskQueue, args });
  await expect(run).rejects.toMatchObject({ cause: { type: 'validation_error' } });
});
