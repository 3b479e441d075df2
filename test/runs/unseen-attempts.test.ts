import { workflowIdOf } from '../../protocol/ids.js';
import { gateRegistration, type RegistrationGate } from '../support/gated-lease.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { textIn } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

const gated = createGatedAgent();
const { agent } = createTestAgent();
const leg = createTestAgent('in-legs', 'leg');

let stores: TestStores;
let runs: RunHarness;
let gate: RegistrationGate;

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent, leg.agent, gated.agent]);
  gate = gateRegistration(stores);
  await runs.startWorker({ lease: gate.lease });
});

/** How the attempts at the run's activities ended that Temporal began again. */
async function failuresOf(runId: string): Promise<string[]> {
  const history = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  return (history.events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => {
    const type = started?.lastFailure?.applicationFailureInfo?.type;
    return type == null ? [] : [type];
  });
}

/** Begins a run whose next attempts are registered only once the test says so. */
async function beginHeld(name: string, text: string, which: number[]) {
  const id = runs.newSessionId();
  const attempts = gate.hold(id, which);
  const run = await runs.begin(id, name, text);
  return { id, run, attempts };
}

describe('an attempt that Temporal gave to a worker, which never registered it', () => {
  it.concurrent.each([
    ['a model step', agent.name, 1],
    ['a tool call', agent.name, 2],
    ['a leg', leg.agent.name, 1],
  ])('%s is begun again', async (_, name, nth) => {
    const wish = JSON.stringify({ calls: [{ tool: 'echo', id: `e-${name}-${String(nth)}` }] });
    const { id, run, attempts } = await beginHeld(name, wish, [nth]);
    await attempts.reached(nth);
    await runs.sweep(id);
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await failuresOf(run.runId)).toEqual(['AttemptUnseen']);
    // It finds that there is nothing left to do.
    await attempts.release(nth);
  });
});

describe('a worker that only registers late', () => {
  it.concurrent('is refused after its successor has claimed the step', async () => {
    const { id, run, attempts } = await beginHeld(gated.agent.name, 'speak late', [1]);
    await attempts.reached(1);
    await runs.sweep(id);
    await gated.reached('late');
    await attempts.release(1);
    gated.open('late');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(textIn(await stores.streamManager.read(id, 0, 99))).toBe('Once upon a time');
  });

  it.concurrent('gives way to its successor once that claims the step', async () => {
    const { id, run, attempts } = await beginHeld(gated.agent.name, 'speak early', [1, 2]);
    await attempts.reached(1);
    await runs.sweep(id);
    await attempts.reached(2);
    const first = attempts.release(1);
    await gated.reached('early');
    const writers = async () => JSON.stringify(await stores.redis.hgetall(`hx:{${id}}:writers`));
    const before = await writers();
    void attempts.release(2);
    await until('the successor has claimed the step', async () => (await writers()) !== before);
    gated.open('early');
    await first;
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.sessions.rows(id, 1);
    expect(JSON.stringify(rows)).toContain('Once upon a time');
    expect(rows).toHaveLength(1);
  });
});
