import { createFindUnseen } from '../../runs/unseen-attempts.js';
import { toLook, type StartedAttempt, type WorkflowLook } from '../../runs/workflow-look.js';

const GRACE_MS = 3_000;

beforeEach(() => {
  jest.useFakeTimers();
});
const attempt = (id: string, heartbeatAt = 0): StartedAttempt => ({
  id,
  heartbeatAt,
  workflowId: `run:of-${id}`,
  runId: 'execution',
  activityId: `activity-${id}`,
});
const lookOf = (started: StartedAttempt[]): WorkflowLook => ({
  state: 'running',
  isAtWork: true,
  started,
  children: [],
});

/** @param looks Temporal's views of a run, one per look; the last one stays */
function open(
  looks: Record<string, WorkflowLook[]>,
  registered: string[] = [],
  failing: { looks?: number; retries?: number } = {},
  holders = ['worker'],
) {
  const [looked, retried]: [string[], string[]] = [[], []];
  const failAtFirst = (what: keyof typeof failing): void => {
    const left = failing[what] ?? 0;
    failing[what] = left - 1;
    if (left > 0) throw new Error('Temporal does not answer');
  };
  const findUnseen = createFindUnseen({
    leases: {
      holders: () => Promise.resolve(holders),
      registered: async (ids) => new Set(ids.filter((id) => registered.includes(id))),
    },
    workflows: {
      look: async (runId) => {
        looked.push(runId);
        failAtFirst('looks');
        const [next = lookOf([]), ...later] = looks[runId] ?? [];
        if (later.length > 0) looks[runId] = later;
        return next;
      },
      retry: async ({ id }) => {
        failAtFirst('retries');
        retried.push(id);
      },
    },
    meter: () => undefined,
    logger: { warn: () => undefined },
  });
  return {
    looked,
    retried,
    registered,
    find: (look: WorkflowLook, runId = 'r') => {
      findUnseen(runId, look);
      return jest.advanceTimersByTimeAsync(0);
    },
    after: (graces: number) => jest.advanceTimersByTimeAsync(graces * GRACE_MS),
  };
}

it('an attempt that stays unregistered for the grace is begun again, and so is the next one', async () => {
  const [first, second] = [attempt('a:1'), attempt('a:2')];
  const { find, after, retried, looked } = open({
    r: [lookOf([first]), lookOf([second]), lookOf([second]), lookOf([])],
  });
  await find(lookOf([first]));
  await after(0.9);
  expect(retried).toEqual([]);
  await after(0.1);
  expect(retried).toEqual(['a:1']);
  await after(1);
  expect(retried).toEqual(['a:1']);
  await after(1);
  expect(retried).toEqual(['a:1', 'a:2']);
  await after(9);
  expect(looked).toHaveLength(4);
});

it('one that is registered, then or by now, is left alone', async () => {
  const { find, after, retried, registered, looked } = open(
    { r: [lookOf([attempt('a:1'), attempt('b:1')])] },
    ['a:1'],
  );
  await find(lookOf([attempt('a:1'), attempt('b:1')]));
  registered.push('b:1');
  await after(9);
  expect(retried).toEqual([]);
  expect(looked).toHaveLength(1);
});

it('where no worker holds a lease, heartbeats tell of attempts', async () => {
  const { find, after, retried } = open({ r: [lookOf([attempt('a:1')])] }, [], {}, []);
  await find(lookOf([attempt('a:1')]));
  await after(9);
  expect(retried).toEqual([]);
});

it('one whose worker has no lease and sends heartbeats is left alone', async () => {
  const { find, after, retried } = open({
    r: [lookOf([attempt('a:1', 10)]), lookOf([attempt('a:1', 14)])],
  });
  await find(lookOf([attempt('a:1', 10)]));
  await after(2);
  await find(lookOf([attempt('a:1', 14)]));
  await after(2);
  expect(retried).toEqual([]);
});

it('one whose worker is silent after its heartbeats waits for three times the grace', async () => {
  const { find, after, retried } = open({ r: [lookOf([attempt('a:1', 10)])] });
  await find(lookOf([attempt('a:1', 10)]));
  await after(2);
  expect(retried).toEqual([]);
  await after(1);
  expect(retried).toEqual(['a:1']);
});

it('while Temporal does not answer it is asked again', async () => {
  const lost = lookOf([attempt('c:1')]);
  const { find, after, retried } = open({ r: [lost, lost, lost, lost, lookOf([])] }, [], {
    looks: 2,
    retries: 1,
  });
  await find(lost);
  // Two looks fail, and then the retry after the third one.
  await after(3);
  expect(retried).toEqual([]);
  await after(1);
  expect(retried).toEqual(['c:1']);
});

it('a Temporal that stays away is left to the sweeper after a minute', async () => {
  const { find, after, looked } = open({}, [], { looks: 1_000 });
  await find(lookOf([attempt('a:1')]));
  await after(100);
  const asked = looked.length;
  expect(asked).toBeGreaterThan(10);
  expect(asked).toBeLessThan(30);
  await after(100);
  expect(looked).toHaveLength(asked);
});

it('a run is watched once at a time', async () => {
  const { find, after, retried } = open({ r: [lookOf([attempt('a:1')]), lookOf([])] });
  await find(lookOf([attempt('a:1')]));
  await find(lookOf([attempt('a:1')]));
  await after(3);
  expect(retried).toEqual(['a:1']);
});

describe('what Temporal says of a workflow', () => {
  const described = (name: string, raw: object = {}) =>
    toLook({ workflowId: 'run:s:1-x', runId: 'e', status: { name }, raw } as never);
  const activity = (name: string, more: object = {}) => ({
    activityId: '7',
    activityType: { name },
    state: 2,
    attempt: 3,
    lastStartedTime: { seconds: 10 },
    ...more,
  });

  it('a run is at work while a task or an activity is due, or an operator pauses it', () => {
    const looks = [
      described('RUNNING'),
      described('RUNNING', { pendingWorkflowTask: {} }),
      described('RUNNING', { pendingActivities: [activity('endRun')] }),
      described('PAUSED'),
      described('TERMINATED'),
    ];
    expect(looks.map(({ state, isAtWork }) => [state, isAtWork])).toEqual([
      ['running', false],
      ['running', true],
      ['running', true],
      ['running', true],
      ['closed', false],
    ]);
  });

  it('an attempt was given to a worker with a lease, whose heartbeats count since it began', () => {
    const pendingActivities = [
      activity('modelStep', { lastHeartbeatTime: { seconds: 9 } }),
      activity('toolCall', { lastHeartbeatTime: { seconds: 10, nanos: 500_000_000 } }),
      activity('modelStep', { state: 1 }),
      activity('answerCall'),
    ];
    const { started } = described('RUNNING', { pendingActivities });
    const attempt = { id: 'e:7:3', workflowId: 'run:s:1-x', runId: 'e', activityId: '7' };
    expect(started).toEqual([
      { ...attempt, heartbeatAt: 0 },
      { ...attempt, heartbeatAt: 10_500 },
    ]);
  });

  it('its sub-agents are those of its open children that are runs, and its end says whether it completed', () => {
    const pendingChildren = [{ workflowId: 'notice' }, { workflowId: 'run:s.d:1-y' }];
    expect(described('RUNNING', { pendingChildren }).children).toEqual(['s.d:1-y']);
    const ends = ['COMPLETED', 'FAILED'].map((name) => described(name).hasCompleted);
    expect(ends).toEqual([true, false]);
  });
});

it('a run is watched once at a time, and two hundred at most', async () => {
  const alive = lookOf([attempt('a:1')]);
  const { find, after, looked } = open({ r: [alive, lookOf([]), lookOf([])] });
  for (let time = 0; time < 2; time += 1) await find(alive);
  await after(9);
  expect(looked.splice(0)).toEqual(['r', 'r']);
  await find(alive);
  await after(9);
  expect(looked.splice(0)).toEqual(['r']);
  for (let n = 0; n <= 200; n += 1) await find(alive, String(n));
  await after(1);
  expect(looked).toHaveLength(200);
});
