import { plant } from '../support/stored-record.js';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { ANONYMOUS, workflowIdOf } from '../../protocol/ids.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { LAYOUT } from '../../session/record.js';
import { say, startApi } from '../api/api-server.js';
import {
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { drive, userMessage } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

/** Two builds share one Redis and one task queue; each has agents or tools the other lacks. */
let stores: TestStores;
let older: RunHarness;
let newer: RunHarness;

const both = createTestAgent('both');
const added = createTestAgent('added');
const removed = createTestAgent('removed');
const without = (agent: AgentDefinition, tool: string): AgentDefinition => ({
  ...agent,
  tools: agent.tools.filter(({ name }) => name !== tool),
});

beforeAll(async () => {
  stores = await openTestStores();
  older = await createRunHarness(stores, [without(both.agent, 'charge'), removed.agent]);
  const { taskQueue } = older;
  const address = sharedTemporalAddress();
  newer = await createRunHarness(stores, [both.agent, added.agent], address, taskQueue);
});

const charge = (id: string): string => JSON.stringify({ calls: [{ tool: 'charge', id }] });

/** Waits until a worker has tried an activity of the run and left it to others. */
function untilLeft({ runId }: RunRecord): Promise<unknown> {
  return until('a worker has left it to others', async () => {
    const { raw } = await older.client.workflow.getHandle(workflowIdOf(runId)).describe();
    return (raw.pendingActivities ?? []).some(({ attempt }) => Number(attempt) > 1);
  });
}

async function begin(build: RunHarness, agent: string, text?: string) {
  const id = build.newSessionId();
  return { id, run: await build.begin(id, agent, text ?? charge(`${id}-c`)) };
}

/** Reads all entries; a repetition or a false report would add one. */
async function rowsOf(sessionId: string): Promise<string[]> {
  return (await stores.store.sessions.rows(sessionId, 0)).map((row) => JSON.stringify(row));
}

it('each build leaves to the other what only that one knows: an agent, or the tool of an approved call', async () => {
  let worker = await newer.startWorker();
  const tool = await begin(newer, 'both');
  await newer.untilStatus(tool.id, 'waiting_approval');
  await worker.stop();

  worker = await older.startWorker();
  const known = await begin(older, 'removed');
  const unknown = await begin(newer, 'added', 'hello');
  // The older API approves the call without knowing the tool.
  expect(await older.decide(tool.run, `${tool.id}-c`, true)).toBe('stored');
  await Promise.all([untilLeft(unknown.run), untilLeft(tool.run)]);
  expect((await stores.store.sessions.read(unknown.id))?.status).not.toBe('failed');
  expect(both.executed).toEqual([]);
  await older.untilStatus(known.id, 'waiting_approval');
  await worker.stop();

  worker = await newer.startWorker();
  expect(await newer.decide(known.run, `${known.id}-c`, true)).toBe('stored');
  await untilLeft(known.run);
  expect(removed.executed).toEqual([]);
  expect(await newer.result(unknown.run)).toMatchObject({ status: 'completed' });
  const [, reply, ...none] = await rowsOf(unknown.id);
  expect(reply).toContain('You said hello');
  expect(none).toEqual([]);
  expect(await newer.result(tool.run)).toMatchObject({ status: 'completed' });
  expect(both.executed).toEqual([`${tool.id}-c`]);
  const rows = await rowsOf(tool.id);
  expect(rows.join()).toContain(`"done":"${tool.id}-c"`);
  expect(rows.join()).not.toMatch(/unknown_tool|tool_outcome_unknown/);
  await worker.stop();

  worker = await older.startWorker();
  expect(await older.result(known.run)).toMatchObject({ status: 'completed' });
  expect(removed.executed).toEqual([`${known.id}-c`]);
  expect((await rowsOf(known.id)).join()).not.toContain('tool_outcome_unknown');
  await worker.stop();
});

it('an older and a newer worker together answer several runs, each once', async () => {
  // The older sweep neither starts nor loses a run of an unknown agent.
  const unknown = drive(stores);
  await newer.due.note(unknown.id, 3_000);
  await unknown.begin({ agent: 'added', messages: [userMessage('u1', 'hello')] });
  await older.sweep(unknown.id);
  expect(await stores.store.sessions.read(unknown.id)).toMatchObject({ status: 'starting' });
  await newer.sweep(unknown.id);
  const workers = await Promise.all([older.startWorker(), newer.startWorker()]);
  const begun = await Promise.all([
    ...['both', 'both', 'added'].map((agent) => begin(newer, agent, 'hello')),
    begin(older, 'removed', 'hello'),
  ]);
  const results = await Promise.all(begun.map(({ run }) => newer.result(run)));
  expect(results).toEqual(begun.map(() => ({ status: 'completed', steps: 1 })));
  await newer.untilStatus(unknown.id, 'completed');
  for (const { id } of begun) {
    const [, reply, ...none] = await rowsOf(id);
    expect(reply).toContain('You said hello');
    expect(none).toEqual([]);
  }
  await Promise.all(workers.map((worker) => worker.stop()));
});

describe('a record of a newer layout', () => {
  const layOut = (id: string, layout: number): Promise<void> =>
    plant(stores.redis, id, (record) => {
      record.layout = layout;
    });

  it('a worker leaves a run whose record has a newer layout to another one', async () => {
    const { id, run } = await begin(older, 'removed', 'hello');
    await layOut(id, LAYOUT + 1);
    const worker = await older.startWorker();
    await untilLeft(run);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'starting' });
    await layOut(id, LAYOUT);
    expect(await older.result(run)).toMatchObject({ status: 'completed' });
    await worker.stop();
  });

  it('an API refuses to continue a conversation whose record has a newer layout, with 503', async () => {
    const session = drive(stores);
    await session.begin({ agent: 'both', owner: ANONYMOUS });
    await layOut(session.id, LAYOUT + 1);
    const api = await startApi({
      executor: { runs: newer.executor },
      stateStore: stores.store,
      streamManager: stores.streamManager,
      agents: new AgentRegistry([both.agent]),
    });
    const reply = await api.post(`/api/chat/${session.id}`, { messages: [say('u2', 'more')] });
    expect([reply.status, await reply.json()]).toMatchObject([
      503,
      { code: 'unavailable', error: expect.stringContaining('newer build') as unknown },
    ]);
    await api.close();
  });
});
