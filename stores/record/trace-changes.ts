import { rootOf } from '../../protocol/ids.js';
import type { Store } from '../contract/store.js';
import type { LegTraces } from './leg-traces.js';
import type { Leg, RunOfSession } from './legs.js';
import { createWaitSpans } from './wait-spans.js';

/**
 * A store that writes spans of what its transitions end: legs, and waits for people. An attempt
 * that finds a transition made before looks as well, since the process that made it may have died
 * before it wrote the span.
 */
export function traceChanges(store: Store, traces: LegTraces | undefined): Store {
  if (traces === undefined) return store;
  const { steps, runs, calls } = store;
  const { current, lookAtEnd } = traces;
  const waits = createWaitSpans(store, traces);

  return {
    ...store,
    steps: {
      ...steps,
      claim: async (input) => {
        const result = await steps.claim(input);
        if (result.kind === 'done' || result.kind === 'superseded') lookAtEnd(current());
        return result;
      },
      commit: async (input) => {
        const result = await steps.commit(input);
        const { kind } = result;
        const goesOn = kind === 'committed' && !result.paused && input.final === undefined;
        // That of a sub-agent rests while others are running.
        if (!goesOn || rootOf(input.writer.sessionId) !== input.writer.sessionId) {
          lookAtEnd(current());
        }
        return result;
      },
    },
    runs: {
      ...runs,
      begin: async (input) => {
        const asked = await waits.readAll(input.sessionId);
        const result = await runs.begin(input);
        if (result.kind === 'begun') waits.ended(asked, 'abandoned');
        return result;
      },
      end: async (input) => {
        const [leg, all] = await Promise.all([readOpen(input), waits.readAll(input.sessionId)]);
        const result = await runs.end(input);
        if (result.kind === 'ended') {
          lookAtEnd(leg);
          // A sub-agent ends without those of others.
          const isRoot = rootOf(input.sessionId) === input.sessionId;
          const asked = all.filter(({ call }) => isRoot || call.spec.runId === input.runId);
          waits.ended(asked, input.status === 'failed' ? 'lost' : 'stopped');
        }
        return result;
      },
      stop: async (sessionId, stop) => {
        const newest = await store.sessions.read(rootOf(sessionId)).catch(() => undefined);
        const [leg, asked] = await Promise.all([
          newest && readOpen(newest),
          waits.readAll(sessionId),
        ]);
        const result = await runs.stop(sessionId, stop);
        if (result.kind === 'ended') {
          lookAtEnd(leg);
          waits.ended(asked, 'stopped');
        }
        return result;
      },
    },
    calls: {
      ...calls,
      start: async (input) => {
        const result = await calls.start(input);
        if (result.kind === 'settled' || result.kind === 'superseded') lookAtEnd(current());
        return result;
      },
      settle: async (input) => {
        if (input.source === 'tool' || input.source === 'child') {
          const result = await calls.settle(input);
          lookAtEnd(current());
          return result;
        }
        const wait = await waits.readOne(input);
        const result = await calls.settle(input);
        if (result.kind === 'stored' && wait !== undefined) waits.answered(input, wait);
        return result;
      },
    },
  };

  /** The leg of a run that is active; one that waits, or has ended, has left its leg before. */
  async function readOpen({ sessionId, runId }: RunOfSession): Promise<Leg | undefined> {
    const known = current();
    const leg = known?.runId === runId ? known : await traces?.read({ sessionId, runId });
    return leg?.wasLeft === true ? undefined : leg;
  }
}
