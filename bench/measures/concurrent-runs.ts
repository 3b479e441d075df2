import type { Take } from '../bench.js';
import {
  createChatClient,
  newSessionId,
  toLabText,
  type ChatClient,
} from '../client/chat-client.js';
import { wallClock } from '../clock.js';
import { row, type Row } from '../report.js';

/** Steps of each run; each calls a tool, except the last. */
const STEPS = 4;
/** Tokens of each step. */
const TOKENS = 25;
const EVERY_MS = 20;

const TEXT = toLabText(
  ...Array.from({ length: STEPS }, (_, at) => ({
    stamp: true,
    deltas: TOKENS,
    everyMs: EVERY_MS,
    calls: [{ tool: 'echo', id: `c${String(at + 1)}`, args: { value: at } }],
  })),
  { say: 'done' },
);

/**
 * A hundred concurrent runs on one worker, all streaming and calling tools, against a hundred bare workflows
 * with as many activities of the same duration. A refused message fails the measurement.
 */
export const take: Take = async ({ quick, product, floor, say }) => {
  const runs = quick ? 20 : 100;
  const all = `${String(runs)} runs at once`;
  const bare = `${String(runs)} bare workflows`;
  const timeAgent = (agent: string): Promise<Performed> => {
    say(`concurrent-runs: ${all}, ${agent}`);
    const chat = createChatClient(product.port, agent);
    return timeAll(runs, () => performRun(chat));
  };
  const shapes = [
    { name: all, performed: await timeAgent('lab'), ratioAtLeast: 0.8 },
    { name: `${all}, in legs`, performed: await timeAgent('lab-leg'), ratioAtLeast: 2 },
  ];
  say(`concurrent-runs: ${bare} at once`);
  const floors = await timeAll(runs, () => floor.runWork(STEPS, TOKENS * EVERY_MS));
  return shapes.flatMap(({ name, performed, ratioAtLeast }): Row[] => [
    row(`${name}: first token`, 'ms', performed.firsts, {
      beside: [`${bare}: first activity`, floors.firsts],
      aim: { ratio: 1.3 },
    }),
    row('  runs per second', '1/s', (1000 * runs) / performed.ms, {
      beside: [bare, (1000 * runs) / floors.ms],
      aim: { ratioAtLeast },
    }),
  ]);
};

interface Performed {
  /** From the first run's start to the last one's end. */
  ms: number;
  firsts: number[];
}

/** Runs everything at once; `perform` resolves to the ms until its first sign of work. */
async function timeAll(count: number, perform: () => Promise<number>): Promise<Performed> {
  const from = wallClock();
  const firsts = await Promise.all(Array.from({ length: count }, perform));
  return { ms: wallClock() - from, firsts };
}

/** Performs a run; resolves to the ms until its first token. */
async function performRun(chat: ChatClient): Promise<number> {
  const from = wallClock();
  let first: number | undefined;
  await chat.say(newSessionId(), TEXT, (json, at) => {
    if (json.startsWith('{"type":"text-delta"')) first ??= at - from;
  });
  return first ?? NaN;
}
