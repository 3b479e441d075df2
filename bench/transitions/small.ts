import { ALL_CASES } from './cases/all-cases.js';
import type { Case } from './cases/case.js';
import type { Frozen } from './freeze.js';
import type { Scene } from './inputs.js';
import { begin } from './moves.js';
import { eachSide, type Side } from './side.js';
import { STATES, type StateName } from './states.js';

/** µs in Redis for one transition. */
export interface Cost {
  median: number;
  min: number;
}

/** A transition, and what it costs on each side. */
export interface SmallRow {
  name: string;
  costs: Cost[];
}

export interface SmallOptions {
  /** Times that all transitions are gone through: what disturbs one for a while misses it later. */
  passes: number;
  rounds: number;
  /** Sessions that a round takes through the transition, each once. */
  sessions: number;
}

const WARM_UP = 2;

/** µs for one transition, by side and round. */
type Samples = number[][];

/** What each transition costs in a session of a few messages. */
export async function measureSmall(
  sides: readonly Side[],
  options: SmallOptions,
  say: (text: string) => void,
): Promise<SmallRow[]> {
  const found = ALL_CASES.map(({ name }) => ({ name, samples: sides.map((): number[] => []) }));
  for (let pass = 1; pass <= options.passes; pass += 1) {
    for (const state of Object.keys(STATES) as StateName[]) {
      const cases = ALL_CASES.filter(({ from }) => from === state);
      if (cases.length === 0) continue;
      say(`small sessions: ${state} (${String(pass)} of ${String(options.passes)})`);
      const ready = await Promise.all(sides.map((side) => prepare(side, state, options)));
      for (const one of cases) {
        const samples = found.find(({ name }) => name === one.name)?.samples ?? [];
        await measure(sides, ready, one, options, samples);
      }
      await Promise.all(ready.map(({ frozen }) => frozen.drop()));
    }
    await sides[0]?.place.redis.flushall();
  }
  return found.map(({ name, samples }) => ({ name, costs: samples.map(toCost) }));
}

interface Ready {
  scenes: Scene[];
  frozen: Frozen;
}

async function prepare(
  { driver, place, states }: Side,
  state: StateName,
  { sessions }: SmallOptions,
): Promise<Ready> {
  const ids = Array.from({ length: sessions }, (_, n) => `small-${state}-${String(n)}`);
  const scenes = await Promise.all(
    ids.map(async (id) => STATES[state](driver, await begin(driver, id, 'base'))),
  );
  return { scenes, frozen: await states.freeze(place.prefix, `small-${state}-*`, true) };
}

/**
 * All sessions of a round at once: a Redis that has to wait for each command is measured with cold
 * caches, which is about twice of what the same commands take under load.
 */
async function measure(
  sides: readonly Side[],
  ready: readonly Ready[],
  { act }: Case,
  { rounds, sessions }: SmallOptions,
  samples: Samples,
): Promise<void> {
  for (let round = -WARM_UP; round < rounds; round += 1) {
    await eachSide(sides, round, async ({ driver, meter }, at) => {
      const { scenes, frozen } = ready[at] ?? missing();
      await frozen.thaw(true);
      await meter.reset();
      await Promise.all(scenes.map((scene) => act(driver, scene)));
      const { us } = await meter.read();
      if (round >= 0) samples[at]?.push(us / sessions);
    });
  }
}

function toCost(samples: number[]): Cost {
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? NaN, min: sorted[0] ?? NaN };
}

function missing(): never {
  throw new Error('a side was not prepared');
}
