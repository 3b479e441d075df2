import { Redis } from 'ioredis';
import type { Bench, Measurement } from '../bench.js';
import { endTurn, seedTurn } from '../client/seed-turn.js';
import { newSessionId } from '../client/session-ids.js';
import { wallClock } from '../clock.js';
import { summarize } from '../report/statistics.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { openStores } from '../stores.js';

const MESSAGES = 1_000;

/** What a page asks for first, of a long conversation. */
export const snapshot: Measurement = {
  name: 'snapshot',
  take: async (bench) => {
    const redis = openStores(bench.servers.redisUrl);
    try {
      bench.say(`snapshot: writing ${String(MESSAGES)} messages`);
      const sessionId = newSessionId();
      for (let turn = 1; turn <= MESSAGES / 2; turn += 1) {
        const writer = await seedTurn(redis, sessionId, `u${String(turn)}`);
        await endTurn(redis, writer, `Reply ${String(turn)}. `.repeat(20));
      }
      bench.say('snapshot: reading');
      const rounds = bench.isQuick ? 20 : 200;
      const floor = await measureFloor(bench, sessionId, rounds);
      const pages = await repeat(rounds, () => readJson(bench, `${sessionId}/snapshot`, MESSAGES));
      const page = await repeat(rounds, () => readJson(bench, `${sessionId}/messages`, 50));
      const beside = {
        what: 'one LRANGE, each row parsed, all stringified',
        value: summarize(floor),
      };
      return {
        rows: [
          {
            what: `snapshot of ${String(MESSAGES)} messages, over HTTP`,
            unit: 'ms' as const,
            value: summarize(pages),
            beside,
            aim: { ratio: 4, p99: 100 },
          },
          {
            what: '  50 of them, over HTTP',
            unit: 'ms' as const,
            value: summarize(page),
            beside,
          },
        ],
        notes: [],
      };
    } finally {
      await redis.close();
    }
  },
};

async function measureFloor({ servers }: Bench, sessionId: string, rounds: number) {
  const redis = new Redis(servers.redisUrl);
  const { rows } = createKeySpace().session(sessionId);
  try {
    return await repeat(rounds, async () => {
      const texts = await redis.lrange(rows, 0, -1);
      if (texts.length !== MESSAGES) throw new Error('not all rows were read');
      JSON.stringify(texts.map((text) => JSON.parse(text) as unknown));
    });
  } finally {
    redis.disconnect();
  }
}

async function readJson({ product }: Bench, path: string, count: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${String(product.port)}/api/chat/${path}`);
  const { messages } = (await response.json()) as { messages: unknown[] };
  if (messages.length !== count) throw new Error(`${String(messages.length)} messages came`);
}

async function repeat(rounds: number, sample: () => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = wallClock();
    await sample();
    samples.push(wallClock() - startedAt);
  }
  return samples;
}
