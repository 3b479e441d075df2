import { takeSamples, type Bench, type Take } from '../bench.js';
import {
  createChatClient,
  newSessionId,
  toLabText,
  type ChatClient,
  type LabEntry,
} from '../client/chat-client.js';
import { createDataLines, readRaw } from '../client/raw-stream.js';
import { runOf } from '../client/runs.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { untilWaiting } from '../floor/floor-client.js';
import { row, type Row } from '../report.js';

/** Gives the reader time to catch up. */
const SETTLE_MS = 30;

interface Question {
  what: string;
  call: NonNullable<LabEntry['calls']>[number];
  answer: unknown;
  bare: string;
  /** Activities from the answer to the next step's start, including that step's own. */
  activities: number;
  /** Aims as factors of the bare signal's latency, for the default shape and for legs. */
  aims: { default: number; legs: number };
}

const QUESTIONS: readonly Question[] = [
  {
    what: "client tool's result → next step's first chunk",
    call: { tool: 'locate', id: 'c1', args: {} },
    answer: { result: { place: 'here' } },
    bare: 'signal → bare activity',
    activities: 1,
    aims: { default: 1.15, legs: 1.15 },
  },
  {
    what: "  approval → tool → next step's first chunk",
    call: { tool: 'charge', id: 'c1', args: { amount: 5 } },
    answer: { approved: true },
    bare: 'signal → bare activity → activity',
    activities: 2,
    aims: { default: 1.2, legs: 1 },
  },
];

/** Latency from a person's HTTP answer to the reader's first chunk of the next step, against bare signals. */
export const take: Take = async (bench) => {
  const { quick, say, floor, product, chat } = bench;
  const size = { warmUp: 3, count: quick ? 5 : 50 };
  const legs = createChatClient(product.port, 'lab-leg');
  const rows: Row[] = [];
  for (const question of QUESTIONS) {
    const { what, call, bare, activities, aims } = question;
    say(`answer-latency: ${call.tool}`);
    const samples = await takeSamples(size, async () => ({
      default: await timeAnswer(bench, chat, question),
      legs: await timeAnswer(bench, legs, question),
      bare: await (await floor.startWaiting(activities)).release(),
    }));
    const beside = [bare, samples.map((each) => each.bare)] as const;
    for (const shape of ['default', 'legs'] as const) {
      const name = shape === 'legs' ? '    the same in legs' : what;
      const times = samples.map((each) => each[shape]);
      rows.push(row(name, 'ms', times, { beside, aim: { ratio: aims[shape] } }));
    }
  }
  return rows;
};

/** Asks, then answers once the run waits and the reader has caught up. */
async function timeAnswer(
  bench: Bench,
  chat: ChatClient,
  { call, answer }: Question,
): Promise<number> {
  const sessionId = newSessionId();
  await chat.say(sessionId, toLabText({ calls: [call] }, { say: 'thanks' }));
  const leave = createLeave();
  let answeredAt = Infinity;
  let firstAt: number | undefined;
  const reader = readRaw({
    port: bench.product.port,
    path: `/api/agent/sse?sessionId=${sessionId}`,
    onPiece: createDataLines((json, at) => {
      if (at > answeredAt && json.includes('"type":"step_start"')) firstAt ??= at;
      if (json.startsWith('{"type":"end"')) leave.abort();
    }),
    signal: leave.signal,
  });
  await untilWaiting(await runOf(bench, sessionId));
  await sleep(SETTLE_MS);
  answeredAt = wallClock();
  await chat.answer(sessionId, call.id, answer);
  await reader;
  return (firstAt ?? NaN) - answeredAt;
}
