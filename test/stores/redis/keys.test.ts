import { describe, expect, it } from '@jest/globals';
import { drive, newCall, newSessionId } from '../../support/session-driver.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';
import { createKeySpace } from '../../../stores/redis/keys.js';

/** Time to live of each key of a session, in seconds; -1 is for ever. */
async function lifetimes({ redis }: TestStores, sessionId: string): Promise<Map<string, number>> {
  const names = await redis.keys(`hx:{${sessionId}}:*`);
  const entries = names.map(async (name): Promise<[string, number]> => [
    name.slice(name.lastIndexOf(':') + 1),
    await redis.ttl(name),
  ]);
  return new Map(await Promise.all(entries));
}

describe('keys of a session', () => {
  it('have no expiry while a run starts, runs or waits', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const forEver = async (): Promise<void> => {
      const found = await lifetimes(stores, session.id);
      expect(found.size).toBeGreaterThan(2);
      expect([...new Set(found.values())]).toEqual([-1]);
    };
    const { runId } = await session.newRun();
    await forEver();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'x');
    await forEver();
    await session.commit(writer, { calls: [newCall('a', 'approval')] });
    await forEver();
    await session.decide(runId, 'a', true);
    await session.start(runId, 1, 'a', 1);
    await forEver();
  });

  it('expire after the end in one case only: the stream, and not if another run follows', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, []);
    const ended = await lifetimes(stores, session.id);
    const mortal = [...ended].filter(([, ttl]) => ttl >= 0).map(([name]) => name);
    expect(mortal).toEqual(['stream']);
    expect(ended.get('stream')).toBeGreaterThan(86_000);

    await session.newRun();
    expect((await lifetimes(stores, session.id)).get('stream')).toBe(-1);
  });

  it('live in one slot of a cluster', () => {
    // The check value of the cluster specification: what follows is worth nothing without it.
    expect(crc16('123456789')).toBe(0x31c3);
    for (const id of ['a', 'x_-9', newSessionId()]) {
      const slots = createKeySpace().session(id).all.map(slotOf);
      expect(slots).toHaveLength(16);
      expect(new Set(slots).size).toBe(1);
      expect(slots[0]).toBe(crc16(id) % 16_384);
    }
  });
});

/** The slot of a key, by the hash tag rule of the Redis cluster specification. */
function slotOf(key: string): number {
  return crc16(/^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key) % 16_384;
}

/** CRC16-XMODEM, as Redis uses it. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    }
    crc &= 0xffff;
  }
  return crc;
}
