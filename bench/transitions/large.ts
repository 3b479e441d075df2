import { ALL_CASES } from './cases/all-cases.js';
import type { Case } from './cases/case.js';
import type { Frozen } from './freeze.js';
import type { Scene } from './inputs.js';
import type { LargeSession } from './large-sessions.js';
import type { Reading } from './meter.js';
import { eachSide, measureOnce, type Side } from './side.js';
import { STATES, type StateName } from './states.js';

/** What a transition cost; what was thrown if it was refused. */
export type Sample = Reading | Error;

/** One transition; by large session, and then by side. */
export interface LargeRow {
  name: string;
  cells: Sample[][];
}

/** What each transition costs in sessions with a long past. */
export async function measureLarge(
  sides: readonly Side[],
  sessions: readonly LargeSession[],
  samples: number,
  say: (text: string) => void,
): Promise<LargeRow[]> {
  const cases = ALL_CASES.filter(({ isSmallOnly }) => isSmallOnly !== true);
  const rows = new Map<string, LargeRow>(cases.map(({ name }) => [name, { name, cells: [] }]));
  for (const session of sessions) {
    say(`large sessions: ${session.name}`);
    const bases = await Promise.all(sides.map((side) => openBase(side, session)));
    for (const state of Object.keys(STATES) as StateName[]) {
      const found = cases.filter(({ from }) => from === state);
      if (found.length === 0) continue;
      const ready: Ready[] = [];
      for (const [at, side] of sides.entries()) ready.push(await prepare(side, bases[at], state));
      for (const one of found) {
        rows.get(one.name)?.cells.push(await measureCase(sides, ready, one, samples));
      }
      await Promise.all(ready.map(({ frozen }) => frozen.drop()));
    }
    await sides[0]?.place.redis.flushall();
  }
  return [...rows.values()];
}

interface Base {
  scene: Scene;
  frozen: Frozen;
}

interface Ready extends Base {
  base: Frozen;
}

async function openBase(side: Side, session: LargeSession): Promise<Base> {
  const scene = await session.open(side);
  return { scene, frozen: await side.bases.freeze(side.place.prefix, scene.sessionId, true) };
}

async function prepare(side: Side, base: Base | undefined, state: StateName): Promise<Ready> {
  if (base === undefined) throw new Error('a side has no session');
  await base.frozen.thaw();
  const scene = await STATES[state](side.driver, base.scene);
  const frozen = await side.states.freeze(side.place.prefix, scene.sessionId);
  return { scene, frozen, base: base.frozen };
}

async function measureCase(
  sides: readonly Side[],
  ready: readonly Ready[],
  { act, isWhole }: Case,
  samples: number,
): Promise<Sample[]> {
  return sampleLeast(sides, samples, async (side, at) => {
    const it = ready[at];
    if (it === undefined) throw new Error('a side was not prepared');
    if (isWhole === true) await it.base.thaw(true);
    await it.frozen.thaw();
    return () => act(side.driver, it.scene);
  });
}

/** The least of a few samples, each freshly prepared, of the measured operation on each side. */
export async function sampleLeast(
  sides: readonly Side[],
  samples: number,
  prepareOne: (side: Side, at: number) => Promise<() => Promise<unknown>>,
): Promise<Sample[]> {
  const found: Sample[][] = sides.map(() => []);
  for (let round = 0; round < samples; round += 1) {
    await eachSide(sides, round, async (side, at) => {
      const act = await prepareOne(side, at);
      found[at]?.push(await measureOnce(side, act).catch(toError));
    });
  }
  return found.map(toLeast);
}

const toError = (error: unknown): Sample =>
  error instanceof Error ? error : new Error(String(error));

/** What other programs add to one of them is missing from another. */
function toLeast(samples: readonly Sample[]): Sample {
  const readings = samples.filter((sample): sample is Reading => 'us' in sample);
  const [least] = readings.sort((a, b) => a.longestUs - b.longestUs);
  return samples.find((sample) => sample instanceof Error) ?? least ?? new Error('no samples');
}
