import type { Bench, Measurement } from '../bench.js';
import { toLabText } from '../client/lab-script.js';
import { newSessionId } from '../client/session-ids.js';
import { sleep, wallClock } from '../clock.js';
import { createRedisStores, type RedisStores } from '../../stores/redis/index.js';
import { summarize } from '../report/statistics.js';

const SAMPLES = 30;
const FLOOR_SAMPLES = 10;

const TEXT = toLabText({ hangMs: 60_000 });

/** A stop while the model is silent, beside a cancellation by Temporal's own means. */
export const stopLatency: Measurement = {
  name: 'stop-latency',
  take: async (bench) => {
    const redis = createRedisStores({ url: bench.servers.redisUrl, role: 'worker' });
    const stops: number[] = [];
    const cancels: number[] = [];
    try {
      bench.say('stop-latency: stopping silent models');
      const count = bench.isQuick ? 3 : SAMPLES;
      while (stops.length < count) stops.push(await timeStop(bench, redis));
      bench.say('stop-latency: cancelling bare activities');
      const floorCount = bench.isQuick ? 2 : FLOOR_SAMPLES;
      while (cancels.length < floorCount) cancels.push(await timeCancel(bench));
    } finally {
      await redis.close();
    }
    return {
      rows: [
        {
          what: 'stop of a silent model → run_interrupted',
          unit: 'ms',
          value: summarize(stops),
          beside: { what: 'cancel → bare activity, 1 s heartbeat', value: summarize(cancels) },
          aim: { p99: 250 },
        },
      ],
      notes: [],
    };
  },
};

async function timeStop(bench: Bench, { store }: RedisStores): Promise<number> {
  const sessionId = newSessionId();
  let interruptedAt = NaN;
  const reply = bench.chat.say(sessionId, TEXT, (json, at) => {
    if (json.startsWith('{"type":"data-run-interrupted"')) interruptedAt = at;
  });
  // A silent model shows nothing, but its step has an owner.
  while (((await store.readRecord(sessionId))?.claimedStep ?? 0) < 1) await sleep(5);
  await sleep(50 + Math.random() * 50);
  const from = wallClock();
  await bench.chat.stop(sessionId);
  await reply;
  return interruptedAt - from;
}

async function timeCancel(bench: Bench): Promise<number> {
  const { cancel } = await bench.floor.startHanging();
  await sleep(Math.random() * 1000);
  const from = wallClock();
  return (await cancel()) - from;
}
