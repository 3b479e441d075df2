import type { Bench, Measurement } from '../bench.js';
import { createChatClient, newSessionId } from '../client/chat-client.js';
import { toEchoSteps, toLabText, type LabEntry } from '../client/lab-script.js';
import { readHistory, runOf, type History } from '../client/runs.js';
import type { Row } from '../report.js';

const STEPS = 20;
const QUICK_STEPS = 4;
/** Keeps a thousand model calls under 5 MB. */
const BYTES_PER_STEP = 5_000;

/** A run with many steps of one kind and a short last one, and bare activities of the same shape. */
interface Shape {
  what: string;
  /** Fewer steps than the others if each takes a person. */
  steps?: number;
  perform: (bench: Bench, sessionId: string, steps: number) => Promise<void>;
  bare: string;
  performBare: (bench: Bench, steps: number) => Promise<{ workflowId: string }>;
  aim?: number;
}

type Calls = NonNullable<LabEntry['calls']>;

const SHAPES: readonly Shape[] = [
  {
    what: 'with two tools',
    perform: (bench, sessionId, steps) =>
      sayCalls(bench, sessionId, steps, (step) => [echo(`a${step}`), echo(`b${step}`)]),
    bare: 'three bare activities',
    performBare: ({ floor }, steps) => floor.runShape('pairs', steps),
    aim: BYTES_PER_STEP,
  },
  {
    what: 'with an approval',
    steps: 1,
    perform: async (bench, sessionId) => {
      const call = { tool: 'charge', id: 'c1', args: { amount: 5 } };
      await sayCalls(bench, sessionId, 1, () => [call]);
      await bench.chat.answer(sessionId, call.id, { approved: true });
    },
    bare: 'activity, signal, activity',
    performBare: async ({ floor }) => {
      const { workflowId, release } = await floor.startWaiting(2);
      await release();
      return { workflowId };
    },
  },
  {
    what: 'with a sub-agent of one step',
    perform: (bench, sessionId, steps) =>
      sayCalls(bench, sessionId, steps, (step) => [
        { tool: 'delegate', id: `d${step}`, args: { script: [] } },
      ]),
    bare: 'activity, child with one',
    performBare: ({ floor }, steps) => floor.runShape('children', steps),
  },
];

/** History size of a step by its kind, against bare activities of the same shape. */
export const historySize: Measurement = {
  name: 'history-size',
  take: async (bench) => {
    bench.say('history-size: a run of one step');
    const sessionId = newSessionId();
    await bench.chat.say(sessionId, toLabText({ say: 'hi' }));
    const product = await readRun(bench, sessionId);
    const bare = await readBare(bench, (await bench.floor.runSteps(1)).workflowId);
    const rows = toRows('history of a run of one step', product, 'one bare activity', bare);
    for (const shape of SHAPES) {
      bench.say(`history-size: steps ${shape.what}`);
      rows.push(...(await measure(bench, shape, product, bare)));
    }
    rows.push(...(await measureTurn(bench)));
    return { rows, notes: [] };
  },
};

/** Subtracts the last step, which is the same in all runs. */
async function measure(
  bench: Bench,
  { what, steps = bench.isQuick ? QUICK_STEPS : STEPS, perform, bare, performBare, aim }: Shape,
  last: History,
  bareLast: History,
): Promise<Row[]> {
  const sessionId = newSessionId();
  await perform(bench, sessionId, steps);
  const product = perStep(await readRun(bench, sessionId), last, steps);
  const { workflowId } = await performBare(bench, steps);
  const floor = perStep(await readBare(bench, workflowId), bareLast, steps);
  return toRows(`  of a step ${what}`, product, bare, floor, aim);
}

/** Measures a turn of five steps with four tools, in both shapes. */
async function measureTurn(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { agent, what, aim } of [
    { agent: 'lab', what: 'history of a turn of five steps with four tools', aim: 59 },
    { agent: 'lab-leg', what: '  the same in legs', aim: 15 },
  ]) {
    const chat = createChatClient(bench.product.port, agent);
    const sessionId = newSessionId();
    await chat.say(sessionId, toEchoSteps(5));
    chat.close();
    const { events } = await readRun(bench, sessionId);
    rows.push({ what, unit: 'events', value: { p50: events }, aim: { p50: aim } });
  }
  return rows;
}

function perStep(all: History, last: History, steps: number): History {
  const events = (all.events - last.events) / steps;
  return { ...all, events, bytes: (all.bytes - last.bytes) / steps };
}

function toRows(
  what: string,
  product: History,
  bare: string,
  floor: History,
  aimOfBytes?: number,
): Row[] {
  return (['events', 'bytes'] as const).map((unit) => ({
    what,
    unit,
    value: { p50: product[unit] },
    beside: { what: bare, value: { p50: floor[unit] } },
    ...(unit === 'bytes' && aimOfBytes !== undefined && { aim: { p50: aimOfBytes } }),
  }));
}

async function readRun(bench: Bench, sessionId: string): Promise<History> {
  return readBare(bench, (await runOf(bench, sessionId)).workflowId);
}

/** Waits for the workflow's end, which follows its last activity. */
async function readBare({ temporal }: Bench, workflowId: string): Promise<History> {
  await temporal.workflow.getHandle(workflowId).result();
  return readHistory(temporal, workflowId);
}

const echo = (id: string): Calls[number] => ({ tool: 'echo', id, args: { value: 1 } });

function sayCalls(
  { chat }: Bench,
  sessionId: string,
  steps: number,
  toCalls: (step: string) => Calls,
): Promise<void> {
  const entries = Array.from({ length: steps }, (_, at) => ({ calls: toCalls(String(at + 1)) }));
  return chat.say(sessionId, toLabText(...entries, { say: 'done' }));
}
