import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';
import { Redis } from 'ioredis';
import { StreamMessageSchema, type StreamMessage } from '../../../protocol/chunk.js';
import { toMessage, toShortDelta } from '../../../store/redis/entries.js';
import { createRedisStores } from '../../../store/redis/index.js';
import { drive, newNonce } from '../../support/session-driver.js';
import { answers, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const url = sharedRedisUrl();
const prefix = `t${newNonce()}`;
const redis = new Redis(url);
const stores = createRedisStores({ url, whenAway: 'wait', prefix });

afterAll(async () => {
  await stores.close();
  redis.disconnect();
});

it('a delta of five letters takes at most 75 bytes in Redis', async () => {
  await until('Redis answers', () => answers(stores));
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const session = drive(stores, id);
  const { runId } = await session.newRun(newNonce());
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  const base = { agentId: id, agentType: 'assistant', step: 1, timestamp: Date.now() };
  const delta = { type: 'text_delta' as const, ...base, delta: 'hello' };
  const page = Array.from({ length: 500 }, () => delta);
  for (let batch = 1; batch <= 10; batch += 1) {
    await stores.streamManager.append(writer, batch, page);
  }
  const bytes = await redis.memory('USAGE', `${prefix}:{${id}}:stream`, 'SAMPLES', 0);
  expect(Number(bytes) / 5_000).toBeLessThanOrEqual(75);
});

/** Generates mostly values that the protocol accepts. */
const field = (...good: unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom('', 'x'.repeat(257), -1, 0.5, NaN, Infinity, null) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, true, {}, [], '\ud83d') },
  );

const text = fc.oneof(
  field('', 'word ', '"', '\\ud', '🙂', '["a"]', '\u0000', '\ude42', 'y'.repeat(8_193)),
  fc.string({ unit: anyCharacter, maxLength: 5 }),
);

const message = fc
  .tuple(
    fc.oneof(
      fc.record({ type: fc.constant('text_delta'), delta: text }),
      fc.record({ type: fc.constant('thinking'), content: text, isComplete: field(true, false) }),
      fc.record({
        type: fc.constant('tool_arg_stream_delta'),
        delta: text,
        toolCallId: field('c1', 'a","a'),
      }),
    ),
    fc.record({
      agentId: field('s1', 's1.1a', 's1.', 'other'),
      agentType: field('a', '","a'),
      step: field(0, 1, 11),
      timestamp: field(1_763_841_234_567, 0.5),
    }),
    fc.constantFrom(...Array<object>(9).fill({}), { language: 'en' }, { block: 1 }, { block: -1 }),
  )
  .map((fields) => Object.assign({}, ...fields) as StreamMessage);

it('the short form is given only to what the schema takes, and says the same', () => {
  let short = 0;
  fc.assert(
    fc.property(message, (given) => {
      const json = toShortDelta(given, 's1');
      if (json === undefined) return;
      short += 1;
      expect(StreamMessageSchema.safeParse(given).success).toBe(true);
      expect(toMessage(JSON.parse(json), 's1')).toEqual(given);
    }),
    { numRuns: 2_000 },
  );
  expect(short).toBeGreaterThan(300);
});
