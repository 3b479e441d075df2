import type { Servers } from '../processes/product.js';
import type { Summary } from '../report/statistics.js';
import type { Contender, CpuSeconds, Running } from './contender.js';
import { measureResume, type Resumed } from './works/resume.js';
import { measureStepGap } from './works/step-gap.js';
import { measureStreams, type Streams } from './works/streams.js';
import { measureTurnCost, type TurnCost } from './works/turn-cost.js';

const STEPS = 20;
const TURNS = 10;
/** A work that hangs must not keep the others waiting. */
const LIMIT_MS = 4 * 60_000;

export type CellName = '1 × 1' | '50 × 1' | '200 × 1' | '1 × 25';
const CELLS: readonly { name: CellName; streams: number; readers: number }[] = [
  { name: '1 × 1', streams: 1, readers: 1 },
  { name: '50 × 1', streams: 50, readers: 1 },
  { name: '200 × 1', streams: 200, readers: 1 },
  { name: '1 × 25', streams: 1, readers: 25 },
];

/** A figure, or the reason why it is missing. */
export type Figure<T> = { value: T } | { missing: string };

export interface Figures {
  contender: Pick<Contender, 'name' | 'note'>;
  cells: Partial<Record<CellName, Figure<Streams>>>;
  stepGap: Figure<Summary>;
  cost: Figure<TurnCost>;
  resumed: Figure<Resumed>;
}

/** Gives a contender every work, one after the other. */
export async function measureContender(input: {
  contender: Contender;
  servers: Servers;
  folder: string;
  engines: () => CpuSeconds;
  isQuick: boolean;
  say: (text: string) => void;
}): Promise<Figures> {
  const { contender, servers, folder, engines, isQuick, say } = input;
  const { name, withoutSteps } = contender;
  say(`${name}: starting`);
  const running = await contender.start(servers, folder);
  const attempt = async <T>(
    work: string,
    measure: (on: Running) => Promise<T>,
  ): Promise<Figure<T>> => {
    say(`${name}: ${work}`);
    return Promise.race([
      measure(running).then((value) => ({ value })),
      new Promise<Figure<T>>((resolve) =>
        setTimeout(() => {
          resolve({ missing: `did not end within ${String(LIMIT_MS / 60_000)} minutes` });
        }, LIMIT_MS).unref(),
      ),
    ]).catch((error: unknown) => ({ missing: `failed: ${String(error).slice(0, 200)}` }));
  };
  try {
    const stepGap: Figures['stepGap'] =
      withoutSteps === undefined
        ? await attempt('step gap', (on) => measureStepGap(on, isQuick ? 5 : STEPS))
        : { missing: withoutSteps };
    const cost: Figures['cost'] =
      withoutSteps === undefined
        ? await attempt('turns', (on) => measureTurnCost(on, isQuick ? 2 : TURNS, engines))
        : { missing: withoutSteps };
    const cells: Figures['cells'] = {};
    for (const { name: cell, streams, readers } of CELLS) {
      if (isQuick && streams > 50) continue;
      const size = { streams, readers, isQuick };
      cells[cell] = await attempt(`${cell} readers`, (on) => measureStreams(on, size, engines));
    }
    const resumed = await attempt('kill -9 in the middle of a reply', measureResume);
    return { contender, cells, stepGap, cost, resumed };
  } finally {
    await running.stop();
  }
}
