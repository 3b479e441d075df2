import { cutOnStop } from '../../activities/cut-on-stop.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { drive } from '../support/session-driver.js';
import { until } from '../support/until.js';

it('a stop that comes before the attempt listens to stops cuts it', async () => {
  const { store, streamManager } = createMemoryStores();
  const session = drive({ store, streamManager });
  const { runId } = await session.speaking();
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
    { sessionId: session.id, runId },
    { cut: (why) => void cuts.push(why) },
  );
  await until('it is about to listen', () => listen !== undefined);
  await store.runs.stop(session.id, { mode: 'interrupt' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(cuts).toEqual([]);
  listen?.();
  await until('it is cut', () => cuts.length > 0);
  expect(cuts).toEqual(['stop']);
  end();
});
