import type { Bench, Measurement } from '../bench.js';
import { toLabText, type LabEntry } from '../client/lab-script.js';
import { readRaw } from '../client/raw-stream.js';
import { createDataLines } from '../client/data-lines.js';
import { newSessionId } from '../client/session-ids.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import type { Row } from '../report/row.js';
import { summarize } from '../report/statistics.js';

const SAMPLES = 50;
/** The first ones meet code that is cold. */
const WARM_UP = 3;
/** The reader has read what there is, and waits. */
const SETTLE_MS = 30;

interface Question {
  what: string;
  call: NonNullable<LabEntry['calls']>[number];
  answer: unknown;
  /** Activities between the answer and the next step's beginning, that step's own included. */
  activities: number;
}

const QUESTIONS: readonly Question[] = [
  {
    what: "client tool's result → next step's first chunk",
    call: { tool: 'locate', id: 'c1', args: {} },
    answer: { result: { place: 'here' } },
    activities: 1,
  },
  {
    what: "  approval → tool → next step's first chunk",
    call: { tool: 'charge', id: 'c1', args: { amount: 5 } },
    answer: { approved: true },
    activities: 2,
  },
];

/** A person's answer over HTTP until a reader has the next step's first chunk, beside bare signals. */
export const answerLatency: Measurement = {
  name: 'answer-latency',
  take: async (bench) => {
    const count = WARM_UP + (bench.isQuick ? 5 : SAMPLES);
    const rows: Row[] = [];
    for (const question of QUESTIONS) {
      bench.say(`answer-latency: ${question.call.tool}`);
      const answers: number[] = [];
      const signals: number[] = [];
      while (answers.length < count) {
        answers.push(await timeAnswer(bench, question));
        const { release } = await bench.floor.startWaiting(question.activities);
        signals.push(await release());
      }
      const bare = question.activities === 1 ? 'activity' : 'activity → activity';
      rows.push({
        what: question.what,
        unit: 'ms',
        value: summarize(answers.slice(WARM_UP)),
        beside: {
          what: `signal → bare ${bare}`,
          value: summarize(signals.slice(WARM_UP)),
        },
        aim: { ratio: 1.3 },
      });
    }
    return { rows, notes: [] };
  },
};

async function timeAnswer(bench: Bench, { call, answer }: Question): Promise<number> {
  const { chat, product } = bench;
  const sessionId = newSessionId();
  await chat.say(sessionId, toLabText({ calls: [call] }, { say: 'thanks' }));
  const leave = createLeave();
  let answeredAt = Infinity;
  let firstAt: number | undefined;
  const reader = readRaw({
    port: product.port,
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
