import type { Bench, Measurement } from '../bench.js';
import { createChatClient, newSessionId, type ChatClient } from '../client/chat-client.js';
import { sleep, wallClock } from '../clock.js';
import type { ModelNews } from '../load/model-server.js';
import { startChild, type Child } from '../processes/child.js';
import { startProduct } from '../processes/product.js';
import { summarize, type Row, type Summary } from '../report.js';

const SAMPLES = 100;
const FLOOR_SAMPLES = 10;
/** The first samples do not count, because connections and code are cold. */
const WARM_UP = 2;

/** Time from an HTTP stop until the worker closes the provider's socket, against a plain Temporal cancellation. */
export const stopLatency: Measurement = {
  name: 'stop-latency',
  take: async (bench) => {
    const server = startChild('bench/load/model-server.js');
    try {
      const news = (await server.hear()) as ModelNews;
      const port = 'port' in news ? news.port : NaN;
      const product = await startProduct(bench.servers, 'bench-stops', {
        MODEL: 'openai-compatible:bench',
        OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${String(port)}/v1`,
      });
      const chat = createChatClient(product.port, 'support');
      try {
        return { rows: await measure(bench, chat, server), notes: [] };
      } finally {
        chat.close();
        await product.stop();
      }
    } finally {
      await server.stop();
    }
  },
};

async function measure(bench: Bench, chat: ChatClient, server: Child): Promise<Row[]> {
  const count = WARM_UP + (bench.isQuick ? 5 : SAMPLES);
  const stop = async (text: string): Promise<Stops> => {
    bench.say(`stop-latency: ${text}`);
    const stops: { closed: number; over: number }[] = [];
    while (stops.length < count) stops.push(await timeStop(chat, server, text));
    const warm = stops.slice(WARM_UP);
    return {
      closed: summarize(warm.map(({ closed }) => closed)),
      over: summarize(warm.map(({ over }) => over)),
    };
  };
  const silent = await stop('be silent');
  const talking = await stop('talk to me');
  bench.say('stop-latency: cancelling bare activities');
  const cancels: number[] = [];
  const floorCount = bench.isQuick ? 2 : FLOOR_SAMPLES;
  while (cancels.length < floorCount) cancels.push(await timeCancel(bench));
  const beside = { what: 'cancel → bare activity, 1 s heartbeat', value: summarize(cancels) };
  return [
    toRow("stop of a silent model → provider's socket closed", silent.closed),
    toRow('  of one that talks', talking.closed),
    toRow('  of one that talks → reply over', talking.over),
  ];

  function toRow(what: string, value: Summary): Row {
    return { what, unit: 'ms', value, beside, aim: { p99: 250 } };
  }
}

interface Stops {
  closed: Summary;
  /** Time until the page knows. */
  over: Summary;
}

async function timeStop(
  chat: ChatClient,
  server: Child,
  text: string,
): Promise<{ closed: number; over: number }> {
  const sessionId = newSessionId();
  const reply = chat.say(sessionId, text);
  await hear(server, 'asked');
  // A random moment between heartbeats, tokens and polls.
  await sleep(50 + Math.random() * 100);
  const from = wallClock();
  await chat.stop(sessionId);
  const closedAt = await hear(server, 'closed');
  await reply;
  return { closed: closedAt - from, over: wallClock() - from };
}

async function hear(server: Child, kind: 'asked' | 'closed'): Promise<number> {
  const news = (await server.hear()) as ModelNews;
  if (news.kind !== kind) throw new Error(`the provider says "${news.kind}", not "${kind}"`);
  return news.at;
}

async function timeCancel(bench: Bench): Promise<number> {
  const { cancel } = await bench.floor.startHanging();
  await sleep(Math.random() * 1000);
  const from = wallClock();
  return (await cancel()) - from;
}
