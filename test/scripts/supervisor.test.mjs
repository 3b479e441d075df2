import { restartPause, supervise } from '../../scripts/start/child-process.mjs';

/** Creates children that die when the test says so, and a clock that otherwise stands still. */
function fakeFleet() {
  const children = [];
  const pauses = [];
  const clock = { time: 0 };
  const waiting = [];
  const startChild = () => {
    const child = { pid: children.length + 1 };
    child.exited = new Promise((resolve) => {
      child.die = (lifetime = 0) => {
        clock.time += lifetime;
        resolve({ reason: 'SIGKILL' });
      };
    });
    child.stop = async () => child.die();
    children.push(child);
    waiting.splice(0).forEach((resolve) => resolve());
    return child;
  };
  return {
    children,
    pauses,
    startChild,
    now: () => clock.time,
    pause: async (ms) => void pauses.push(ms),
    nextStart: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

test('the pause grows from nothing to five seconds', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map(restartPause)).toEqual([
    0, 250, 500, 1000, 2000, 4000, 5000, 5000,
  ]);
});

describe('a supervised child', () => {
  test('a child that dies is started again, later each time while it dies at once', async () => {
    const fleet = fakeFleet();
    const supervised = supervise(fleet.startChild, fleet);
    for (let death = 0; death < 4; death += 1) {
      const started = fleet.nextStart();
      fleet.children.at(-1).die();
      await started;
    }
    expect(fleet.pauses).toEqual([0, 250, 500, 1000]);
    expect(supervised.pid).toBe(5);
  });

  test('a child that ran well for a while is started again at once', async () => {
    const fleet = fakeFleet();
    supervise(fleet.startChild, fleet);
    for (const lifetime of [0, 0, 60_000, 0]) {
      const started = fleet.nextStart();
      fleet.children.at(-1).die(lifetime);
      await started;
    }
    expect(fleet.pauses).toEqual([0, 250, 0, 250]);
  });

  test('a child is not started again once it has been stopped', async () => {
    const fleet = fakeFleet();
    const supervised = supervise(fleet.startChild, fleet);
    await supervised.stop();
    expect(fleet.children).toHaveLength(1);
  });

  test('a child is not started again when it is stopped in the middle of a pause', async () => {
    const fleet = fakeFleet();
    let pausing;
    const inPause = new Promise((resolve) => (pausing = resolve));
    const pause = (_ms, _value, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        pausing();
      });
    const supervised = supervise(fleet.startChild, { ...fleet, pause });
    fleet.children[0].die();
    await inPause;
    await supervised.stop();
    expect(fleet.children).toHaveLength(1);
  });

  test('a child is given up when its owner decides so', async () => {
    const fleet = fakeFleet();
    const deaths = [];
    const onDeath = (death) => {
      deaths.push(death);
      return false;
    };
    const supervised = supervise(fleet.startChild, { ...fleet, onDeath });
    fleet.children[0].die();
    await supervised.finished;
    expect(deaths).toEqual([{ reason: 'SIGKILL', quickDeaths: 1, wait: 0 }]);
    expect(fleet.children).toHaveLength(1);
  });
});
