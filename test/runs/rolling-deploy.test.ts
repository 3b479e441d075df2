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

describe('an older worker', () => {
  it('an older worker leaves a run of an unknown agent to a newer one', async () => {
    const worker = await older.startWorker();
    const { id, run } = await begin(newer, 'added', 'hello');
    await untilLeft(run);
    expect((await stores.store.sessions.read(id))?.status).not.toBe('failed');
    await worker.stop();
    const other = await newer.startWorker();
    expect(await newer.result(run)).toMatchObject({ status: 'completed' });
    const [, reply, ...none] = await rowsOf(id);
    expect(reply).toContain('You said hello');
    expect(none).toEqual([]);
    await other.stop();
  });

  it('an older worker leaves an approved call of an unknown tool to a newer one', async () => {
    const first = await newer.startWorker();
    const { id, run } = await begin(newer, 'both');
    await newer.untilStatus(id, 'waiting_approval');
    await first.stop();
    const worker = await older.startWorker();
    // The older API approves the call without knowing the tool.
    expect(await older.decide(run, `${id}-c`, true)).toBe('stored');
    await untilLeft(run);
    expect(both.executed).toEqual([]);
    await worker.stop();
    const other = await newer.startWorker();
    expect(await newer.result(run)).toMatchObject({ status: 'completed' });
    expect(both.executed).toEqual([`${id}-c`]);
    const rows = await rowsOf(id);
    expect(rows.join()).toContain(`"done":"${id}-c"`);
    expect(rows.join()).not.toMatch(/unknown_tool|tool_outcome_unknown/);
    await other.stop();
  });

  it('an older worker neither starts nor loses a run of an unknown agent', async () => {
    const session = drive(stores);
    await newer.due.note(session.id, 3_000);
    await session.begin({ agent: 'added', messages: [userMessage('u1', 'hello')] });
    await older.sweep(session.id);
    expect(await stores.store.sessions.read(session.id)).toMatchObject({ status: 'starting' });
    const worker = await newer.startWorker();
    await newer.sweep(session.id);
    await newer.untilStatus(session.id, 'completed');
    await worker.stop();
  });
});

describe('a newer worker', () => {
  it('a newer worker leaves an approved call of a removed agent to an older one', async () => {
    const first = await older.startWorker();
    const { id, run } = await begin(older, 'removed');
    await older.untilStatus(id, 'waiting_approval');
    await first.stop();
    const worker = await newer.startWorker();
    expect(await newer.decide(run, `${id}-c`, true)).toBe('stored');
    await untilLeft(run);
    expect(removed.executed).toEqual([]);
    await worker.stop();
    const other = await older.startWorker();
    expect(await older.result(run)).toMatchObject({ status: 'completed' });
    expect(removed.executed).toEqual([`${id}-c`]);
    expect((await rowsOf(id)).join()).not.toContain('tool_outcome_unknown');
    await other.stop();
  });
});

describe('both together', () => {
  it('an older and a newer worker together answer several runs, each once', async () => {
    const workers = [await older.startWorker(), await newer.startWorker()];
    const runs = await Promise.all(
      Array.from({ length: 6 }, (_, n) => {
        if (n % 3 === 0) return begin(newer, 'added', 'hello');
        return n % 3 === 1 ? begin(older, 'removed', 'hello') : begin(newer, 'both', 'hello');
      }),
    );
    await Promise.all(
      runs.map(async ({ id, run }) => {
        expect(await newer.result(run)).toMatchObject({ status: 'completed' });
        const [, reply, ...none] = await rowsOf(id);
        expect(reply).toContain('You said hello');
        expect(none).toEqual([]);
      }),
    );
    await Promise.all(workers.map((worker) => worker.stop()));
  }, 60_000);
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
