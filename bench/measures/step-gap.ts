import { createLabAgent } from '../../examples/index.js';
import { TASK_QUEUE, type Take } from '../bench.js';
import { toEchoSteps } from '../client/chat-client.js';
import { performLongRun } from '../client/runs.js';
import type { Span } from '../floor/worker.js';
import { row } from '../report.js';

/** Long enough for a run to continue as new when Temporal suggests it. */
const STEPS = 500;
/** Each place in the run covers this many neighbouring steps, because a single step says little. */
const NEIGHBOURS = 20;

/** Pauses before each step of a run, by step, ms. */
type Gaps = number[];

/**
 * Pause from a step's end to the next step's first chunk, early and late in a long run with a tool in each
 * step, against two bare activities per step.
 */
export const take: Take = async (bench) => {
  const steps = bench.quick ? 50 : STEPS;
  const rounds = bench.quick ? 1 : 2;
  const all: Record<'default' | 'legs' | 'floor', Gaps[]> = { default: [], legs: [], floor: [] };
  const perform = async (name: string, activities: 'leg' | undefined): Promise<Gaps> => {
    // Lifts the step limit of the API's agents.
    const agent = createLabAgent({ maxSteps: Infinity, name, activities });
    return toGaps((await performLongRun(bench, agent, TASK_QUEUE, toEchoSteps(steps))).log);
  };
  for (let round = 1; round <= rounds; round += 1) {
    bench.say(`step-gap: round ${String(round)} of ${String(rounds)}, ${String(steps)} steps`);
    all.default.push(await perform('lab', undefined));
    all.legs.push(await perform('lab-leg', 'leg'));
    all.floor.push(toFloorGaps((await bench.floor.runSteps(2 * steps)).spans));
  }
  const places = [
    { name: '2', from: 2 },
    { name: String(steps), from: steps - NEIGHBOURS + 1 },
  ];
  return places.flatMap(({ name, from }) => {
    const around = (gaps: Gaps[]): Gaps =>
      gaps.flatMap((each) => each.slice(from, from + NEIGHBOURS));
    return [
      row(`step gap at step ${name}`, 'ms', around(all.default), {
        beside: ['two bare activities', around(all.floor)],
        aim: { ratio: 1.2 },
      }),
      // A leg schedules nothing between two steps, so the gap is the record's own round trips.
      row('  the same in legs', 'ms', around(all.legs), { aim: { p50: 5 } }),
    ];
  });
};

/** Reads the pauses from a step's commit to the next step's first chunk. */
function toGaps(log: Awaited<ReturnType<typeof performLongRun>>['log']): Gaps {
  const gaps: Gaps = [];
  let committedAt = NaN;
  for (const { message } of log) {
    if (message.type === 'step_committed') committedAt = message.timestamp;
    if (message.type === 'step_start') gaps[message.step] = message.timestamp - committedAt;
  }
  return gaps;
}

/** Step k's model call corresponds to activity 2k - 2, counted from 0; its tool to the next one. */
function toFloorGaps(spans: readonly Span[]): Gaps {
  const gaps: Gaps = [];
  for (let step = 2; 2 * step - 2 < spans.length; step += 1) {
    gaps[step] = (spans[2 * step - 2]?.begin ?? NaN) - (spans[2 * step - 4]?.end ?? NaN);
  }
  return gaps;
}
