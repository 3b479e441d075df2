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
  /** The first side to the second, round by round: what slows the machine slows both. */
  ratio?: number;
}

export interface SmallOptions {
  rounds: number;
  /** Sessions that a round takes through the transition, each once. */
  sessions: number;
}

const WARM_UP = 2;

/** What each transition costs in a session of a few messages. */
export async function measureSmall(
  sides: readonly Side[],
  options: SmallOptions,
  say: (text: string) => void,
): Promise<SmallRow[]> {
  const rows: SmallRow[] = [];
  for (const state of Object.keys(STATES) as StateName[]) {
    const cases = ALL_CASES.filter(({ from }) => from === state);
    if (cases.length === 0) continue;
    say(`small sessions: ${state}`);
    const ready = await Promise.all(sides.map((side) => prepare(side, state, options)));
    for (const one of cases) {
      rows.push({ name: one.name, ...(await measure(sides, ready, one, options)) });
    }
    await Promise.all(ready.map(({ frozen }) => frozen.drop()));
  }
  const order = ALL_CASES.map(({ name }) => name);
  return rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
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
): Promise<Pick<SmallRow, 'costs' | 'ratio'>> {
  const samples: number[][] = sides.map(() => []);
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
  const [own = [], other] = samples;
  const ratios = own.map((us, round) => us / (other?.[round] ?? NaN));
  return { costs: samples.map(toCost), ...(other && { ratio: toCost(ratios).median }) };
}

function toCost(samples: number[]): Cost {
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? NaN, min: sorted[0] ?? NaN };
}

function missing(): never {
  throw new Error('a side was not prepared');
}
