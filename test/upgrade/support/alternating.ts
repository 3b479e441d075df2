import type { Store } from '../../../stores/contract/store.js';
import type { Writer } from '../../../stores/contract/log.js';
import type { StoresUnderTest } from '../../../stores/conformance/index.js';

/** Which of two releases does a thing: by chance, but what an attempt does is done by one process. */
function createCoin(seed: number): (args: readonly unknown[]) => boolean {
  let state = seed;
  const toss = (): boolean => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >= 0x8000_0000;
  };
  const sides = new Map<string, boolean>();
  return (args) => {
    const writer = writerIn(args[0]);
    if (writer === undefined) return toss();
    const attempt = JSON.stringify([writer.sessionId, writer.runId, writer.name, writer.token]);
    const side = sides.get(attempt) ?? toss();
    sides.set(attempt, side);
    return side;
  };
}

function writerIn(input: unknown): Partial<Writer> | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  if ('writer' in input) return writerIn(input.writer);
  return 'token' in input ? (input as Partial<Writer>) : undefined;
}

/** Stores whose every call is done by one of two releases, the earlier one first, as a deployment has it in the middle. */
export function alternate(a: StoresUnderTest, b: StoresUnderTest, seed: number): StoresUnderTest {
  const coin = createCoin(seed);
  const mix = <T extends object>(one: T, other: T): T =>
    new Proxy(one, {
      get: (_, name): unknown => {
        const [mine, others] = [Reflect.get(one, name), Reflect.get(other, name)] as unknown[];
        if (typeof mine !== 'function' || typeof others !== 'function') return mine;
        return (...args: unknown[]): unknown =>
          coin(args) ? Reflect.apply(mine, one, args) : Reflect.apply(others, other, args);
      },
    });
  const nouns = Object.keys(b.store) as Exclude<
    keyof Store,
    'batches' | 'leases' | 'tallies' | 'pauses' | 'requests' | 'files'
  >[];
  const store = Object.fromEntries(
    // An earlier release has not all of them.
    nouns.map((noun) => [
      noun,
      noun in a.store ? mix(a.store[noun], b.store[noun]) : b.store[noun],
    ]),
  ) as unknown as Store;
  return {
    store,
    streamManager: mix(a.streamManager, b.streamManager),
    close: async () => {
      await Promise.all([a.close(), b.close()]);
    },
  };
}
