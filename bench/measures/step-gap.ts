import { createLabAgent } from '../../examples/index.js';
import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { toEchoSteps } from '../client/lab-script.js';
import {
  performLongRun,
  readHistory,
  toStepGaps,
  type FinishedRun,
  type StepGaps,
} from '../client/runs.js';
import type { Span } from '../floor/worker.js';
import { summarize, type Report, type Row } from '../report.js';

/** Long enough for a run to continue as new when Temporal suggests it. */
const STEPS = 500;
const ROUNDS = 2;
/** Each place in the run covers this many neighbouring steps, because a single step says little. */
const NEIGHBOURS = 20;

/**
 * Pause from a step's end to the next step's first chunk, early and late in a long run, against as many bare
 * activities.
 */
export const stepGap: Measurement = {
  name: 'step-gap',
  take: async (bench) => {
    const steps = bench.isQuick ? 50 : STEPS;
    const rounds = bench.isQuick ? 1 : ROUNDS;
    // Lifts the step limit of the API's lab agent.
    const own = { countCharge: refuse, maxSteps: Infinity };
    const agent = createLabAgent(own);
    const inLegs = createLabAgent({ ...own, name: 'lab-leg', activities: 'leg' });
    const runs: FinishedRun[] = [];
    const legs: FinishedRun[] = [];
    const floors: { workflowId: string; spans: Span[] }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const label = `step-gap: round ${String(round)} of ${String(rounds)}`;
      bench.say(`${label}, ${String(steps)} steps with a tool each`);
      runs.push(
        await performLongRun(bench, { agent, taskQueue: TASK_QUEUE, text: toEchoSteps(steps) }),
      );
      bench.say(`${label}, the same in legs`);
      legs.push(
        await performLongRun(bench, {
          agent: inLegs,
          taskQueue: TASK_QUEUE,
          text: toEchoSteps(steps),
        }),
      );
      bench.say(`${label}, ${String(2 * steps)} bare activities`);
      floors.push(await bench.floor.runSteps(2 * steps));
    }
    const product = runs.map(({ log }) => toStepGaps(log));
    const floor = floors.map(({ spans }) => toFloorGaps(spans));
    const report: Report = { rows: [], notes: [] };
    const early = { name: '2', from: 2 };
    const middle = { name: '200', from: 200 - NEIGHBOURS + 1 };
    const late = { name: String(steps), from: steps - NEIGHBOURS + 1 };
    const places = bench.isQuick ? [early, late] : [early, middle, late];
    for (const place of places) report.rows.push(...toRows(place, product, floor));
    report.rows.push(toFlatness(early, late, product, floor));
    const ofLegs = legs.map(({ log }) => toStepGaps(log));
    for (const place of places) report.rows.push(toLegRow(place, ofLegs));
    report.notes.push(
      `step gap: each place is ${String(NEIGHBOURS)} neighbouring steps of ${String(rounds)} runs; ` +
        'a step with a tool is two activities, so two bare ones stand beside it; executions: ' +
        (await countExecutions(bench, runs, floors)),
    );
    return report;
  },
};

/** This process only begins runs. */
const refuse = (): Promise<never> => Promise.reject(new Error('nothing is executed here'));

/** Counts the executions of the runs. */
async function countExecutions(
  { temporal }: Bench,
  runs: readonly { workflowId: string }[],
  floors: readonly { workflowId: string }[],
): Promise<string> {
  const read = async ([run]: readonly { workflowId: string }[]): Promise<string> =>
    String((await readHistory(temporal, run?.workflowId ?? '')).executions);
  return `${await read(runs)}, of the bare workflow ${await read(floors)}`;
}

type Gaps = Pick<StepGaps, 'whole' | 'model'>;

/** Step k's model call corresponds to activity 2k - 2, counted from 0; its tool to the next one. */
function toFloorGaps(spans: readonly Span[]): Gaps {
  const gaps: Gaps = { whole: [], model: [] };
  for (let step = 2; 2 * step - 2 < spans.length; step += 1) {
    const begin = spans[2 * step - 2]?.begin ?? NaN;
    gaps.whole[step] = begin - (spans[2 * step - 4]?.end ?? NaN);
    gaps.model[step] = begin - (spans[2 * step - 3]?.end ?? NaN);
  }
  return gaps;
}

interface Place {
  name: string;
  from: number;
}

function toRows(place: Place, product: readonly Gaps[], floor: readonly Gaps[]): Row[] {
  const views = [
    { view: 'whole', what: `step gap at step ${place.name}`, beside: 'two bare activities' },
    {
      view: 'model',
      what: `  tool's result → model, step ${place.name}`,
      beside: 'one bare activity',
    },
  ] as const;
  return views.map(({ view, what, beside }) => ({
    what,
    unit: 'ms',
    value: summarize(pick(product, view, place)),
    beside: { what: beside, value: summarize(pick(floor, view, place)) },
    aim: { ratio: 1.2 },
  }));
}

/** A leg schedules nothing between two steps, so the gap is the record's own round trips. */
function toLegRow(place: Place, legs: readonly Gaps[]): Row {
  return {
    what: `step gap at step ${place.name}, in legs`,
    unit: 'ms',
    value: summarize(pick(legs, 'whole', place)),
    aim: { p50: 5 },
  };
}

/** Compares late with early steps; flat means equal durations. */
function toFlatness(
  early: Place,
  late: Place,
  product: readonly Gaps[],
  floor: readonly Gaps[],
): Row {
  const growth = (gaps: readonly Gaps[]): number =>
    summarize(pick(gaps, 'whole', late)).p50 / summarize(pick(gaps, 'whole', early)).p50;
  return {
    what: `step gap, step ${late.name} over step ${early.name}`,
    unit: 'times',
    value: { p50: growth(product) },
    beside: { what: 'two bare activities', value: { p50: growth(floor) } },
    aim: { p50: 1.3 },
  };
}

function pick(all: readonly Gaps[], view: keyof Gaps, { from }: Place): number[] {
  return all.flatMap((gaps) => gaps[view].slice(from, from + NEIGHBOURS));
}
