import { cutOnStop } from '../../activities/cut-on-stop.js';
import { childAt, grow } from '../../store/conformance/tree.js';
import { createMemoryStores } from '../../store/memory/index.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { drive } from '../support/session-driver.js';
import { until } from '../support/until.js';

it.each([
  ['a stop that comes before the attempt listens to stops cuts it', true],
  ['a stop of the run that replaced its own cuts no attempt that begins to listen', false],
])('%s', async (_, isOwn) => {
  const { store, streamManager } = createMemoryStores();
  const session = drive({ store, streamManager });
  const { runId } = await session.claimed();
  let listen: (() => void) | undefined;
  const late = {
    ...streamManager,
    onStop: async (...of: Parameters<typeof streamManager.onStop>) => {
      await new Promise<void>((resolve) => (listen = resolve));
      return streamManager.onStop(...of);
    },
  };
  const cuts: string[] = [];
  const end = cutOnStop(
    {
      store,
      streamManager: late,
      lease: undefined,
      logger: { info: () => undefined, warn: () => undefined },
    },
    { sessionId: session.id, runId: isOwn ? runId : `${session.id}:0-before` },
    { cut: (why) => void cuts.push(why) },
  );
  await until('it is about to listen', () => listen !== undefined);
  await store.runs.stop(session.id, { mode: 'interrupt' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(cuts).toEqual([]);
  listen?.();
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(cuts).toEqual(isOwn ? ['stop'] : []);
  end();
});

it('only a stop of the run that an attempt works for cuts it, by message or mailbox, until it ends', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const tree = await grow({ ...stores, session }, 1, () => []);
  const { runId } = tree;
  const { ref: child } = childAt(tree, 0);
  const ended: string[] = [];
  const hears: [of: string, tell: (stopped: string) => void][] = [];
  const listen = (way: string) => (of: string, tell: (stopped: string) => void) => {
    hears.push([of, tell]);
    return () => void ended.push(way);
  };
  const deps = {
    store: stores.store,
    streamManager: {
      onStop: async (...of: Parameters<ReturnType<typeof listen>>) => listen('message')(...of),
    },
    lease: { onStop: listen('mailbox') },
    logger: { warn: () => undefined },
  } as unknown as ActivityDeps;
  for (const [of, stopped, isCut] of [
    [{ sessionId: session.id, runId }, runId, true],
    [{ sessionId: session.id, runId }, `${session.id}:0-before`, false],
    [child, runId, true],
    [child, `${session.id}:0-before`, false],
  ] as const) {
    const cuts: string[] = [];
    hears.length = 0;
    ended.length = 0;
    const end = cutOnStop(deps, of, { cut: (why) => void cuts.push(why) });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hears.map(([id]) => id).sort()).toEqual([session.id, of.sessionId].sort());
    for (const [, tell] of hears) tell(stopped);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cuts).toEqual(isCut ? ['stop', 'stop'] : []);
    end();
    expect(ended.sort()).toEqual(['mailbox', 'message']);
  }
});

it('an attempt listens again after a failure, and leaves what it gets to hear after its end', async () => {
  jest.useFakeTimers();
  let tries = 0;
  let left = 0;
  let answer = (): void => undefined;
  const leave = (): void => void (left += 1);
  const onStop = (): Promise<() => void> => {
    tries += 1;
    if (tries === 1) return Promise.reject(new Error('Redis is away'));
    return new Promise((resolve) => (answer = () => resolve(leave)));
  };
  const logger = { warn: () => undefined };
  const deps = { streamManager: { onStop }, logger } as unknown as ActivityDeps;
  const end = cutOnStop(deps, { sessionId: 's', runId: 's:1-a' }, { cut: () => undefined });
  await jest.advanceTimersByTimeAsync(999);
  expect(tries).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(tries).toBe(2);
  end();
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  expect(left).toBe(1);
});
