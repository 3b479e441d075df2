import { createGatedAgent, createFlags } from '../support/gated-agent.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { textIn } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import type { Held } from '../../activities/lease.js';
import type { HeldWork } from '../../store/contract/leases.js';
import { createLease, type BegunLease } from '../../extensions/leases/lease-worker.js';

/** A worker's lease whose attempts register when the test decides. */
interface RegistrationGate {
  lease: BegunLease;
  /** Holds attempts of a conversation, numbered from 1 in the worker's order. */
  hold: (sessionId: string, which: readonly number[]) => HeldAttempts;
  /** Lets all attempts register: the worker of a failed test could not stop before. */
  releaseAll: () => void;
}

interface HeldAttempts {
  /** Resolves when the worker has the attempt. */
  reached: (nth: number) => Promise<void>;
  /** Lets the attempt register; resolves when its work is over. */
  release: (nth: number) => Promise<void>;
}

function gateRegistration({ store, unansweredMs }: TestStores): RegistrationGate {
  const { leases } = store;
  if (leases === undefined) throw new Error('the stores have no leases');
  const logger = { info: () => undefined, warn: () => undefined };
  const begun = createLease({ leases, namespace: 'default', unansweredMs, logger });
  const flags = createFlags();
  const sessions = new Map<string, { which: readonly number[]; count: number }>();

  /** Returns the attempt's gate; undefined if it registers at once. */
  function gateOf({ workflowId }: HeldWork): string | undefined {
    const [id, session] = [...sessions].find(([each]) => workflowId.includes(each)) ?? [];
    if (session === undefined) return undefined;
    session.count += 1;
    return session.which.includes(session.count)
      ? `${String(id)} ${String(session.count)}`
      : undefined;
  }

  function hold(work: HeldWork): Held {
    const gate = gateOf(work);
    if (gate === undefined) return begun.lease.hold(work);
    flags.raise(`${gate} is reached`);
    const held = flags.raised(`${gate} is released`).then(() => begun.lease.hold(work));
    return {
      registered: held.then(({ registered }) => registered),
      becomePatient: () => {
        const patience = held.then(({ becomePatient }) => becomePatient());
        return {
          noted: patience.then(({ noted }) => noted),
          end: () => {
            void patience.then(({ end }) => {
              end();
            });
          },
        };
      },
      executing: () => () => undefined,
      note: () => undefined,
      release: () => {
        void held.then(({ release }) => {
          release();
        });
        flags.raise(`${gate} is over`);
      },
    };
  }

  return {
    lease: { ...begun, lease: { ...begun.lease, hold } },
    releaseAll: () => {
      for (const [id, { which }] of sessions) {
        for (const nth of which) flags.raise(`${id} ${String(nth)} is released`);
      }
    },
    hold: (sessionId, which) => {
      sessions.set(sessionId, { which, count: 0 });
      const nameOf = (nth: number, what: string): string =>
        `${sessionId} ${String(nth)} is ${what}`;
      return {
        reached: (nth) => flags.raised(nameOf(nth, 'reached')),
        release: (nth) => {
          flags.raise(nameOf(nth, 'released'));
          return flags.raised(nameOf(nth, 'over'));
        },
      };
    },
  };
}

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

afterAll(() => {
  gate.releaseAll();
});

/** Begins a run whose next attempts register only once the test says so. */
async function beginHeld(name: string, text: string, which: number[]) {
  const id = runs.newSessionId();
  const attempts = gate.hold(id, which);
  const run = await runs.begin(id, name, text);
  return { id, run, attempts };
}

it.concurrent.each([
  ['a model step', agent.name, 1],
  ['a tool call', agent.name, 2],
  ['a leg', leg.agent.name, 1],
])(
  'an attempt that Temporal gave to a worker, which never registered it, is begun again: %s',
  async (_, name, nth) => {
    const wish = JSON.stringify({ calls: [{ tool: 'echo', id: `e-${name}-${String(nth)}` }] });
    const { id, run, attempts } = await beginHeld(name, wish, [nth]);
    await attempts.reached(nth);
    await runs.sweep(id);
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    // The late attempt finds nothing left to do.
    await attempts.release(nth);
  },
);

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
