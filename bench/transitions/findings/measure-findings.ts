import type { Frozen } from '../freeze.js';
import type { Scene } from '../inputs.js';
import { sampleLeast, type Sample } from '../large.js';
import type { Side } from '../side.js';
import { FINDINGS } from './findings.js';

/** One finding, by side. */
export interface FindingRow {
  name: string;
  found: Sample[];
}

/** What was found to block Redis. */
export async function measureFindings(
  sides: readonly Side[],
  samples: number,
  say: (text: string) => void,
): Promise<FindingRow[]> {
  const rows: FindingRow[] = [];
  for (const { name, open, act } of FINDINGS) {
    say(`findings: ${name}`);
    const ready: { scene: Scene; frozen: Frozen }[] = [];
    for (const side of sides) {
      const scene = await open(side);
      const { states, place } = side;
      ready.push({ scene, frozen: await states.freeze(place.prefix, scene.sessionId, true) });
    }
    const found = await sampleLeast(sides, samples, async (side, at) => {
      const it = ready[at];
      if (it === undefined) throw new Error('a side was not prepared');
      await it.frozen.thaw(true);
      return () => act(side, it.scene);
    });
    rows.push({ name, found });
    await sides[0]?.place.redis.flushall();
  }
  return rows;
}
