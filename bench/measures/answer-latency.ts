import type { Bench, Measurement } from '../bench.js';
import { createChatClient, newSessionId, type ChatClient } from '../client/chat-client.js';
import { toLabText, type LabEntry } from '../client/lab-script.js';
import { createDataLines, readRaw } from '../client/raw-stream.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { summarize, type Row } from '../report.js';

const SAMPLES = 50;
/** The first samples do not count, because code is cold. */
const WARM_UP = 3;
/** Gives the reader time to catch up and wait. */
const SETTLE_MS = 30;

interface Question {
  what: string;
  call: NonNullable<LabEntry['calls']>[number];
  answer: unknown;
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
    activities: 1,
    aims: { default: 1.15, legs: 1.15 },
  },
  {
    what: "  approval → tool → next step's first chunk",
    call: { tool: 'charge', id: 'c1', args: { amount: 5 } },
    answer: { approved: true },
    activities: 2,
    aims: { default: 1.2, legs: 1 },
  },
];

/** Latency from a person's HTTP answer to the reader's first chunk of the next step, against bare signals. */
export const answerLatency: Measurement = {
  name: 'answer-latency',
  take: async (bench) => {
    const count = WARM_UP + (bench.isQuick ? 5 : SAMPLES);
    const rows: Row[] = [];
    const legs = createChatClient(bench.product.port, 'lab-leg');
    try {
      for (const question of QUESTIONS) rows.push(...(await measure(bench, question, legs, count)));
    } finally {
      legs.close();
    }
    return { rows, notes: [] };
  },
};

async function measure(
  bench: Bench,
  question: Question,
  legs: ChatClient,
  count: number,
): Promise<Row[]> {
  bench.say(`answer-latency: ${question.call.tool}`);
  const { port } = bench.product;
  const answers: number[] = [];
  const inLegs: number[] = [];
  const signals: number[] = [];
  while (answers.length < count) {
    answers.push(await timeAnswer({ chat: bench.chat, port }, question));
    inLegs.push(await timeAnswer({ chat: legs, port }, question));
    const { release } = await bench.floor.startWaiting(question.activities);
    signals.push(await release());
  }
  const bare = question.activities === 1 ? 'activity' : 'activity → activity';
  const beside = {
    what: `signal → bare ${bare}`,
    value: summarize(signals.slice(WARM_UP)),
  };
  const toRow = (what: string, samples: number[], ratio: number): Row => ({
    what,
    unit: 'ms',
    value: summarize(samples.slice(WARM_UP)),
    beside,
    aim: { ratio },
  });
  return [
    toRow(question.what, answers, question.aims.default),
    toRow('    the same in legs', inLegs, question.aims.legs),
  ];
}

/** Asks, then answers once the reader has caught up. */
async function timeAnswer(
  { chat, port }: { chat: ChatClient; port: number },
  { call, answer }: Pick<Question, 'call' | 'answer'>,
): Promise<number> {
  const sessionId = newSessionId();
  await chat.say(sessionId, toLabText({ calls: [call] }, { say: 'thanks' }));
  const leave = createLeave();
  let answeredAt = Infinity;
  let firstAt: number | undefined;
  const reader = readRaw({
    port,
    method: 'GET',
    path: `/api/agent/sse?sessionId=${sessionId}`,
    onPiece: createDataLines((json, at) => {
      if (at > answeredAt && json.includes('"type":"step_start"')) firstAt ??= at;
      if (json.startsWith('{"type":"end"')) leave.abort();
    }),
    signal: leave.signal,
  });
  await sleep(SETTLE_MS);
  answeredAt = wallClock();
  await chat.answer(sessionId, call.id, answer);
  await reader;
  return (firstAt ?? NaN) - answeredAt;
}
