import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { newSessionId } from './fixtures.js';
import { drive, type SessionDriver } from './session-driver.js';

/** The stores under test, open. */
export interface StoresUnderTest {
  store: Store;
  streamManager: StreamManager;
  close: () => Promise<void>;
}

export interface ConformanceOptions {
  /** Called for each case; its result is closed after the case. */
  open: () => Promise<StoresUnderTest>;
  /** Functions of jest, vitest or node:test. */
  describe: (name: string, body: () => void) => void;
  it: (name: string, body: () => Promise<void>) => void;
  /**
   * True if all stores that `open` returns access the same data, like the processes of one deployment. Cases about two
   * processes then use two; otherwise they use the same one twice. Default false.
   */
  shared?: boolean;
  /** Number of runs of each property. Default 50. */
  runs?: number;
}

/** The context of a case. */
export interface Case extends StoresUnderTest {
  /** A session for this case, which does not exist yet. */
  session: SessionDriver;
  /** Id of a stream for this case, which does not exist yet. */
  streamId: string;
  /** The same data, accessed by another process. */
  another: () => Promise<StoresUnderTest>;
}

export interface Suite {
  describe: ConformanceOptions['describe'];
  it: (name: string, body: (setup: Case) => Promise<void>) => void;
  /** Runs of each property. */
  runs: number;
}

/** Gives each case its own stores. Frameworks differ in their hooks, so none are used. */
export function createSuite({
  open,
  describe,
  it,
  shared = false,
  runs = 50,
}: ConformanceOptions): Suite {
  return {
    describe,
    runs,
    it: (name, body) => {
      it(name, async () => {
        const opened = [await open()];
        const [stores] = opened;
        if (stores === undefined) return;
        try {
          await body({
            ...stores,
            session: drive(stores),
            streamId: newSessionId(),
            another: async () => {
              if (!shared) return stores;
              const other = await open();
              opened.push(other);
              return other;
            },
          });
        } finally {
          await Promise.all(opened.map(({ close }) => close()));
        }
      });
    },
  };
}
