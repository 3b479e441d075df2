import { createFindClosed, createSweep, startSweeper } from '../../runs/sweep.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { dueShardOf } from '../../store/contract/due.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { drive, newSessionId } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

const CROWD = 2_000;
const HOUR_MS = 3_600_000;
/** The sweeper has to find lost work within 15 s; other tests may keep the machine busy. */
const FOUND_MS = 15_000;

let server: RedisServer;
let stores: TestStores;
let runs: RunHarness;
const { agent, executed } = createTestAgent();
const stops: (() => Promise<void>)[] = [];

const charge = (id: string): string => JSON.stringify({ calls: [{ tool: 'charge', id }] });

/** Creates waiting conversations as copies of one conversation's record. */
async function openCrowd(): Promise<void> {
  const id = newSessionId();
  await runs.begin(id, agent.name, charge(`${id}-c`));
  await runs.untilStatus(id, 'waiting_approval');
  const ids = Array.from({ length: CROWD }, (_, n) => `crowd-${String(n)}`);
  const keys = createKeySpace();
  for (let at = 0; at < CROWD; at += 1_000) {
    const pipeline = stores.redis.pipeline();
    for (const each of ids.slice(at, at + 1_000)) {
      pipeline.copy(keys.session(id).root, keys.session(each).root);
      pipeline.copy(keys.session(id).content, keys.session(each).content);
      const { routine } = keys.due(runs.workflows.fleet, dueShardOf(each));
      pipeline.zadd(routine, Date.now() + Math.random() * HOUR_MS, each);
    }
    await pipeline.exec();
  }
}

/** Sweeps as a worker does. */
function startSweeping(holder: string): void {
  const { executor, workflows, due } = runs;
  const store = { ...stores.store, due };
  const logger = { warn: () => undefined };
  for (const sweep of [
    createSweep({ store, runs: executor, holder, logger }),
    createFindClosed({ store, workflows, holder, logger }),
  ]) {
    stops.push(startSweeper(sweep, logger).stop);
  }
}

beforeAll(async () => {
  server = await startRedis();
  stores = await openTestStores('worker', server.url);
  runs = await createRunHarness(stores, [agent]);
  await runs.startWorker();
  await openCrowd();
  for (const holder of ['one', 'two']) startSweeping(holder);
}, 180_000);

afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await server.close();
});

async function foundWithin(what: string, isFound: () => Promise<boolean>): Promise<void> {
  const since = Date.now();
  await until(what, isFound, 4 * FOUND_MS);
  const ms = Date.now() - since;
  process.stdout.write(`${what}: ${String(ms)} ms\n`);
}

describe('beside thousands of conversations that wait', () => {
  it('a lost wake-up, an unstarted run and a closed workflow are found soon', async () => {
    const asked = newSessionId();
    const run = await runs.begin(asked, agent.name, charge(`${asked}-c`));
    await runs.untilStatus(asked, 'waiting_approval');
    const closed = newSessionId();
    const other = await runs.begin(closed, agent.name, charge(`${closed}-c`));
    await runs.untilStatus(closed, 'waiting_approval');
    const begun = drive(stores);

    // Each change comes from a process that dies between the record and Temporal.
    await runs.due.note(asked, 3_000);
    await drive(stores, asked).decide(run.runId, `${asked}-c`, true);
    await runs.due.note(begun.id, 3_000);
    await begun.begin({ agent: agent.name });
    await runs.client.workflow.getHandle(workflowIdOf(other.runId)).terminate();

    const status = async (id: string): Promise<string | undefined> =>
      (await stores.store.sessions.read(id))?.status;
    await Promise.all([
      foundWithin('the lost wake-up', async () => (await status(asked)) === 'completed'),
      foundWithin('the unstarted run', async () => (await status(begun.id)) === 'completed'),
      foundWithin('the closed workflow', async () => (await status(closed)) === 'failed'),
    ]);
    expect(executed.filter((call) => call.startsWith(asked))).toEqual([`${asked}-c`]);
  }, 120_000);
});
