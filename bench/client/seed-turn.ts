import { randomBytes } from 'node:crypto';
import type { ChunkOf } from '../../protocol/chunk.js';
import type { Writer } from '../../store/contract/log.js';
import { createRedisStores, type RedisStores } from '../../store/redis/index.js';

/** The API's user id without accounts, so everybody may read the seeded turn. */
const OWNER = 'anonymous';
const AT_ONCE = 500;

type Stores = Pick<RedisStores, 'store' | 'streamManager'>;

/** Begins a turn directly in the store, where no worker takes it, and claims its first step. */
export async function seedTurn({ store }: Stores, sessionId: string): Promise<Writer> {
  const now = Date.now();
  const id = 'u1';
  const row = { role: 'user' as const, id, parts: [{ type: 'text' as const, text: 'go' }] };
  const result = await store.runs.begin({
    sessionId,
    agent: 'lab',
    owner: OWNER,
    nonce: randomBytes(4).toString('hex'),
    messages: [{ id, hash: id, row, hidden: false }],
    now,
  });
  if (result.kind !== 'begun') throw new Error(`the turn was refused: ${result.kind}`);
  const { runId } = result.run;
  const writer = { sessionId, runId, name: 'm1', token: now, agentType: 'lab', step: 1 };
  const claimed = await store.steps.claim({ writer, known: 0, now });
  if (claimed.kind !== 'claimed') throw new Error(`the step was refused: ${claimed.kind}`);
  return writer;
}

export function toDelta(writer: Writer, delta: string): ChunkOf<'text_delta'> {
  return { type: 'text_delta', ...toBase(writer), delta };
}

function toBase({
  sessionId: agentId,
  agentType,
  step,
}: Writer): Pick<ChunkOf<'text_delta'>, 'agentId' | 'agentType' | 'step' | 'timestamp'> {
  return { agentId, agentType, step, timestamp: Date.now() };
}

/** Writes the start of the step and one log entry per delta. */
export async function seedDeltas(
  { streamManager }: Stores,
  writer: Writer,
  deltas: readonly string[],
): Promise<void> {
  const chunks = deltas.map((delta) => toDelta(writer, delta));
  const all = [{ ...toBase(writer), type: 'step_start' as const }, ...chunks];
  for (let at = 0, batch = 1; at < all.length; at += AT_ONCE, batch += 1) {
    const { kind } = await streamManager.append(writer, batch, all.slice(at, at + AT_ONCE));
    if (kind !== 'appended') throw new Error(`an append was refused: ${kind}`);
  }
}

/** Opens the stores of a benchmark. */
export function openStores(url: string): RedisStores {
  return createRedisStores({ url, whenAway: 'wait' });
}
