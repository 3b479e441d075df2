import type { Bench, Take } from '../bench.js';
import {
  createChatClient,
  newSessionId,
  toEchoSteps,
  toLabText,
  type ChatClient,
} from '../client/chat-client.js';
import { readHistory, runOf, type History } from '../client/runs.js';
import { row } from '../report.js';

/** Keeps a thousand model calls under 5 MB. */
const BYTES_PER_STEP = 5_000;

/** History size of a step with two tools, against bare activities, and of a turn in both shapes. */
export const take: Take = async (bench) => {
  const { quick, floor, chat, product, temporal } = bench;
  const steps = quick ? 4 : 20;
  const entries = Array.from({ length: steps }, (_, at) => ({
    calls: ['a', 'b'].map((name) => ({
      tool: 'echo',
      id: `${name}${String(at)}`,
      args: { value: 1 },
    })),
  }));
  // The last step is the same in every run, so it is subtracted.
  const last = await historyOf(bench, chat, toLabText({ say: 'hi' }));
  const all = await historyOf(bench, chat, toLabText(...entries, { say: 'hi' }));
  const bareLast = await readHistory(temporal, (await floor.runSteps(1)).workflowId);
  const bareAll = await readHistory(temporal, (await floor.runPairs(steps)).workflowId);
  const rows = (['events', 'bytes'] as const).map((unit) =>
    row('history of a step with two tools', unit, (all[unit] - last[unit]) / steps, {
      beside: ['three bare activities', (bareAll[unit] - bareLast[unit]) / steps],
      aim: unit === 'bytes' ? { p50: BYTES_PER_STEP } : undefined,
    }),
  );
  const legs = createChatClient(product.port, 'lab-leg');
  for (const { what, client, aim } of [
    { what: 'history of a turn of five steps with four tools', client: chat, aim: 59 },
    { what: '  the same in legs', client: legs, aim: 15 },
  ]) {
    const { events } = await historyOf(bench, client, toEchoSteps(5));
    rows.push(row(what, 'events', events, { aim: { p50: aim } }));
  }
  return rows;
};

/** Performs a turn; its workflow ends after its last activity. */
async function historyOf(bench: Bench, chat: ChatClient, text: string): Promise<History> {
  const sessionId = newSessionId();
  await chat.say(sessionId, text);
  const run = await runOf(bench, sessionId);
  await run.result();
  return readHistory(bench.temporal, run.workflowId);
}
