import type { Client } from '@temporalio/client';
import { TIMES } from '../../protocol/limits.js';
import {
  createMoveWaiting,
  makeCurrent,
  toDeploymentOptions,
  type DeploymentConnection,
} from '../../worker/versioning.js';

const LOOK_MS = TIMES.lookAgainMs;
let current: string | undefined;
let listed: string[];
let waiting: (runId: string) => boolean;
let isFree: boolean;
let woken: string[];
let leased: number[];
let ended: AbortController;

/** Number of calls that have a deadline. */
let limited: number;
const withDeadline = (_at: number, work: () => unknown): unknown => {
  limited += 1;
  return work();
};
const describeWorkerDeployment = () =>
  Promise.resolve({
    workerDeploymentInfo: {
      routingConfig: { currentDeploymentVersion: { buildId: current ?? '' } },
    },
    conflictToken: 'seen',
  });
const connection = {
  withDeadline,
  workflowService: { describeWorkerDeployment },
} as unknown as DeploymentConnection;

const client = {
  options: { namespace: 'default' },
  workflow: {
    async *list({ query }: { query: string }) {
      expect(query).toBe(
        "WorkflowType = 'agentRun' AND ExecutionStatus = 'Running' AND " +
          "TemporalWorkerDeploymentVersion = 'agents:v1'",
      );
      for (const workflowId of await Promise.resolve(listed)) yield { workflowId };
    },
  },
} as unknown as Client;

/** Sweeps once, and lets the pauses between its wakes pass. */
let sweep: () => Promise<void>;

/** Starts the process whose sweeps the test makes. */
function start(lookAgainMs = LOOK_MS): void {
  const version = { deploymentName: 'agents', buildId: 'v1' };
  const move = createMoveWaiting(connection, client, version, {
    wake: (runId) => {
      woken.push(runId);
      return Promise.resolve();
    },
    lease: (forMs) => {
      leased.push(forMs);
      return Promise.resolve(isFree);
    },
    isWaiting: (runId) => Promise.resolve(waiting(runId)),
    signal: ended.signal,
    times: { ...TIMES, lookAgainMs },
  });
  sweep = async () => {
    woken = [];
    const swept = move();
    await jest.advanceTimersByTimeAsync(2 * lookAgainMs);
    await swept;
  };
}

beforeEach(() => {
  jest.useFakeTimers();
  current = 'v2';
  listed = ['run:a:1-x', 'run:b:1-x'];
  waiting = () => true;
  isFree = true;
  woken = [];
  leased = [];
  limited = 0;
  ended = new AbortController();
  start();
});
it('wakes the waiting runs of its build once another one is current', async () => {
  waiting = (runId) => runId !== 'a:1-x';
  listed.push('of-another-application');
  await sweep();
  expect(woken).toEqual(['b:1-x']);
});

it.each([undefined, 'v1'])('wakes none while the current build is %s', async (build) => {
  current = build;
  await sweep();
  expect(woken).toEqual([]);
});

it('leaves the runs to the process that holds the lease', async () => {
  isFree = false;
  await sweep();
  expect([woken, leased]).toEqual([[], [LOOK_MS]]);
});

it('wakes twenty runs a second and ends when its lease does', async () => {
  listed = Array.from({ length: 200 }, (_, n) => `run:s${String(n)}:1-x`);
  await sweep();
  expect(Math.abs(woken.length - LOOK_MS / 50)).toBeLessThanOrEqual(1);
});

it('wakes a run that did not move again, ever more rarely', async () => {
  listed = ['run:a:1-x'];
  const counts: number[] = [];
  for (let n = 0; n < 16; n += 1) {
    await sweep();
    counts.push(woken.length);
  }
  // Each sweep here takes as long as two looks.
  const expected = Array.from({ length: 16 }, (_, n) => ([0, 1, 2, 4, 8].includes(n) ? 1 : 0));
  expect(counts).toEqual(expected);
});

it('wakes a run that did not move at least every hour', async () => {
  listed = ['run:a:1-x'];
  start(30 * 60_000);
  for (let n = 0; n < 6; n += 1) {
    await sweep();
    expect(woken).toHaveLength(1);
  }
});

it('stops when the worker ends', async () => {
  ended.abort();
  await sweep();
  expect(woken).toEqual([]);
});

it.each([
  ['another one forestalls', 9],
  ['Temporal has no time for', 8],
  ['Temporal does not know yet', 5],
])(
  'a version that %s looks again after a pause, and leaves another one current',
  async (_why, code) => {
    current = undefined;
    const asked: object[] = [];
    const version = { deploymentName: 'agents', buildId: 'v1', makeCurrent: true };
    const racing = {
      withDeadline,
      workflowService: {
        describeWorkerDeployment,
        setWorkerDeploymentCurrentVersion: (request: object) => {
          asked.push(request);
          current = 'v2';
          return Promise.reject(Object.assign(new Error('refused'), { code }));
        },
      },
    } as unknown as DeploymentConnection;
    const found = makeCurrent(racing, 'default', version, ended.signal);
    await jest.advanceTimersByTimeAsync(200);
    expect([asked.length, limited]).toEqual([1, 1]);
    await jest.advanceTimersByTimeAsync(800);
    expect(await found).toBe('v2');
    const named = { deploymentName: 'agents', buildId: 'v1', version: 'agents.v1' };
    expect(asked).toMatchObject([{ ...named, conflictToken: 'seen' }]);
  },
);

it.each([
  ['v2', 'v2', 'v1', 1],
  ['v0', 'v2', 'v2', 0],
  ['v0', undefined, 'v1', 1],
])(
  'a version that may replace %s, where %s is current, leaves %s',
  async (from, is, found, sets) => {
    current = is;
    const set = jest.fn(() => Promise.resolve({}));
    const service = { describeWorkerDeployment, setWorkerDeploymentCurrentVersion: set };
    const asked = { withDeadline, workflowService: service } as unknown as DeploymentConnection;
    const version = { deploymentName: 'agents', buildId: 'v1', makeCurrent: { from } };
    expect(await makeCurrent(asked, 'default', version, ended.signal)).toBe(found);
    expect(set).toHaveBeenCalledTimes(sets);
  },
);

it('a version that Temporal never learns of is left when the worker ends', async () => {
  const describe = () =>
    Promise.reject(Object.assign(new Error('unknown'), { code: ended.signal.aborted ? 7 : 5 }));
  const service = { describeWorkerDeployment: describe };
  const asked = { withDeadline, workflowService: service } as unknown as DeploymentConnection;
  const version = { deploymentName: 'agents', buildId: 'v1', makeCurrent: true };
  const found = makeCurrent(asked, 'default', version, ended.signal);
  await jest.advanceTimersByTimeAsync(1_000);
  ended.abort();
  expect(await found).toBeUndefined();
});

it('a version that may not be made current says so at once', async () => {
  const denied = Object.assign(new Error('denied'), { code: 7 });
  const service = { describeWorkerDeployment: () => Promise.reject(denied) };
  const asked = { withDeadline, workflowService: service } as unknown as DeploymentConnection;
  const version = { deploymentName: 'agents', buildId: 'v1', makeCurrent: true };
  await expect(makeCurrent(asked, 'default', version, ended.signal)).rejects.toBe(denied);
});

it.each([undefined, 'AUTO_UPGRADE'] as const)(
  'runs of a worker move as it says: %s',
  (behavior) => {
    const version = { deploymentName: 'agents', buildId: 'v1' };
    expect(toDeploymentOptions({ ...version, ...(behavior && { behavior }) })).toEqual({
      workerDeploymentOptions: {
        version,
        useWorkerVersioning: true,
        defaultVersioningBehavior: behavior ?? 'PINNED',
      },
    });
  },
);
