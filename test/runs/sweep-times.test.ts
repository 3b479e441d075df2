import type { SweptSession } from '../../runs/sweep-session.js';
import { createSweep } from '../../runs/sweep.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { DUE_SHARDS, dueShardOf } from '../../store/contract/due.js';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** A sweep over sessions that are found so each time, and a clock. */
function open(found: SweptSession) {
  let time = 1_000_000;
  const { store } = createMemoryStores({ now: () => time });
  const looked: string[] = [];
  const sweep = createSweep({
    store,
    holder: 'x',
    logger: { warn: () => undefined },
    runs: {
      sweepSession: (sessionId) => {
        looked.push(sessionId);
        return Promise.resolve(found);
      },
      finishErasures: () => Promise.resolve(true),
    },
  });
  /** What is looked at after so long. */
  const after = async (ms: number): Promise<string[]> => {
    time += ms;
    await sweep();
    return looked.splice(0);
  };
  return { due: store.due, after };
}

it('a sweep looks into every shard', async () => {
  const { due, after } = open({ kind: 'idle' });
  const ofShard = new Map<number, string>();
  for (let n = 0; ofShard.size < DUE_SHARDS; n += 1)
    ofShard.set(dueShardOf(`s${String(n)}`), `s${String(n)}`);
  const ids = [...ofShard.values()].sort();
  for (const id of ids) await due.note(id, 0);
  expect((await after(SECOND)).sort()).toEqual(ids);
});

it.each<[string, SweptSession, waits: number[]]>([
  ['at work: when that says', { kind: 'active', againMs: 5 * SECOND }, [5 * SECOND, 5 * SECOND]],
  [
    'waiting: once more, and when its deadline is over',
    { kind: 'waiting', untilDeadlineMs: 5 * MINUTE },
    [10 * SECOND, 5 * MINUTE + SECOND],
  ],
  [
    'waiting for long: once more, and within the hour',
    { kind: 'waiting', untilDeadlineMs: 500 * HOUR },
    [10 * SECOND, HOUR],
  ],
])('a session is looked at again, %s', async (_, found, waits) => {
  const { due, after } = open(found);
  await due.note('s1', 0);
  expect(await after(SECOND)).toEqual(['s1']);
  for (const ms of waits) {
    // Spread over a tenth of the hour.
    const early = ms === HOUR ? 0.15 * HOUR : 2 * SECOND;
    expect(await after(ms - early)).toEqual([]);
    expect(await after(early)).toEqual(['s1']);
  }
});
