import { randomBytes } from 'node:crypto';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createAgentPlugin } from '../../worker/index.js';
import { createGatedAgent } from '../support/gated-agent.js';
import {
  bundlePath,
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

let stores: TestStores;
let connection: NativeConnection;
const { agent, open, reached } = createGatedAgent();
const leg = createGatedAgent('leg', 'gated-leg');

beforeAll(async () => {
  stores = await openTestStores();
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
});
afterAll(() => connection.close());

const newRuns = (): Promise<RunHarness> => createRunHarness(stores, [agent, leg.agent]);

/** Starts a user's own worker with the agents plugin. */
async function startOwnWorker({ taskQueue }: RunHarness, settings: Partial<WorkerOptions> = {}) {
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    plugins: [createAgentPlugin({ agents: [agent, leg.agent], stores, sweep: false })],
    ...settings,
  });
  return { worker, ended: worker.run() };
}

async function held(runs: RunHarness, verb: 'speak' | 'call') {
  const gate = randomBytes(4).toString('hex');
  const run = await runs.begin(runs.newSessionId(), agent.name, `${verb} ${gate}`);
  await reached(gate);
  return { gate, run };
}

async function saidIn(sessionId: string): Promise<string> {
  const rows = await stores.store.sessions.rows(sessionId, 1);
  return JSON.stringify(rows.map((row) => (row.role === 'tool' ? row.output : row.parts)));
}

describe('a worker that is asked to stop', () => {
  it.concurrent.each(['call', 'speak'] as const)(
    'a worker that is asked to stop lets the running %s finish',
    async (verb) => {
      const runs = await newRuns();
      const first = await startOwnWorker(runs);
      const { gate, run } = await held(runs, verb);
      first.worker.shutdown();
      open(gate);
      await first.ended;
      if (verb === 'speak') expect(await saidIn(run.sessionId)).toContain('Once upon a time');
      else {
        const call = await stores.store.calls.read(run.sessionId, `call-${gate}`);
        expect(call?.row).toMatchObject({ output: { passed: gate } });
      }
      const second = await startOwnWorker(runs);
      expect(await runs.result(run)).toMatchObject({ status: 'completed' });
      second.worker.shutdown();
      await second.ended;
      expect(await stores.streamManager.getAllChunks(run.sessionId)).not.toContainEqual(
        expect.objectContaining({ type: 'step_discarded' }),
      );
    },
  );

  it.concurrent(
    'a worker that is asked to stop carries a leg no further than its call',
    async () => {
      const runs = await newRuns();
      const first = await startOwnWorker(runs);
      const run = await runs.begin(runs.newSessionId(), leg.agent.name, 'call g');
      await leg.reached('g');
      first.worker.shutdown();
      leg.open('g');
      await first.ended;
      const record = await stores.store.sessions.read(run.sessionId);
      expect(record).toMatchObject({ status: 'running', committedStep: 1 });
      const second = await startOwnWorker(runs);
      expect(await runs.result(run)).toMatchObject({ status: 'completed', steps: 2 });
      second.worker.shutdown();
      await second.ended;
    },
  );

  it.concurrent(
    'a worker that is asked to stop hands over a long step, which the next worker streams again, once',
    async () => {
      const runs = await newRuns();
      const first = await startOwnWorker(runs, { shutdownGraceTime: '10ms' });
      const { gate, run } = await held(runs, 'speak');
      first.worker.shutdown();
      await first.ended;
      open(gate);
      const second = await startOwnWorker(runs);
      expect(await runs.result(run)).toMatchObject({ status: 'completed', steps: 1 });
      second.worker.shutdown();
      await second.ended;
      expect((await saidIn(run.sessionId)).match(/Once upon/g)).toHaveLength(1);
    },
  );
});
