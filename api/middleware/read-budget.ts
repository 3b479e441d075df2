import { setTimeout as delay } from 'node:timers/promises';
import { HelixError } from '../../protocol/errors.js';
import { createFairSlots } from '../../protocol/fair-slots.js';
import type { ReadMeter } from '../../store/contract/log.js';

/** Who reads, and what a refusal may do. */
export interface Reader {
  /** Names the sender whose reads are counted together. */
  key: string;
  /** Aborts when the client has closed the connection. */
  signal: AbortSignal;
  /** True once the reply has begun: a reader is not refused then, but waits. */
  hasBegun: () => boolean;
  /** Notes when a refused reader may try again, s. */
  onRefusal: (seconds: number) => void;
}

/** One read of a conversation; its bytes count as they come from the store. */
export type CountRead = <T>(read: (meter?: ReadMeter) => Promise<T>) => Promise<T>;

const KB = 1024;
const MINUTE_MS = 60_000;
/** A page of an ordinary conversation: it is read as well after larger ones have used the minute up. */
const ORDINARY_BYTES = 256 * KB;
/** What has more is large. */
const LARGE_BYTES = KB * KB;
/** Large reads at once, in this process, and of one sender. */
const LARGE_AT_ONCE = { total: 4, perUser: 2, waiting: 8 };
const TURN_MS = 30_000;
const LOOK_AGAIN_MS = 1_000;
const MOST_SENDERS = 10_000;
/** A sender's debt is at most the bytes of so many minutes, so its wait is bounded. */
const MOST_MINUTES = 3;

/**
 * How much one read may have, by what its sender has read: all that there is until a minute's bytes are
 * spent, then an ordinary page until they are spent twice, then nothing. Pure.
 */
export function roomFor(spent: number, perMinute: number): number {
  if (spent < perMinute) return Infinity;
  return spent < 2 * perMinute ? ORDINARY_BYTES : 0;
}

/**
 * Bounds what each sender reads of conversations: its bytes in a minute, and the large reads at once, in
 * turns among the senders. A large read is refused before it begins, never in the middle.
 */
export function createReadBudget(
  perMinute: number,
  now: () => number = () => performance.now(),
): (reader: Reader) => CountRead {
  const spent = new Map<string, { bytes: number; at: number }>();
  const slots = createFairSlots(LARGE_AT_ONCE);

  /** What was read is forgotten evenly, a minute's bytes in a minute. */
  function spentBy(key: string): number {
    const { bytes, at } = spent.get(key) ?? { bytes: 0, at: 0 };
    const left = bytes - ((now() - at) * perMinute) / MINUTE_MS;
    if (left > 0) return left;
    spent.delete(key);
    return 0;
  }

  function add(key: string, bytes: number): void {
    if (spent.size >= MOST_SENDERS) for (const each of spent.keys()) spentBy(each);
    spent.set(key, { bytes: Math.min(spentBy(key) + bytes, MOST_MINUTES * perMinute), at: now() });
  }

  async function roomOf({ key, signal, hasBegun, onRefusal }: Reader, wanted: number) {
    for (;;) {
      const spentBefore = spentBy(key);
      const room = roomFor(spentBefore, perMinute);
      if (room >= wanted) return room;
      if (!hasBegun()) {
        const excess = spentBefore - (wanted > ORDINARY_BYTES ? perMinute : 2 * perMinute);
        onRefusal(Math.max(1, Math.ceil((excess * MINUTE_MS) / perMinute / 1_000)));
        throw tooMuch();
      }
      await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {
        // The reader has left.
        throw tooMuch();
      });
    }
  }

  return (reader) => async (read) => {
    const { key, signal } = reader;
    let room = await roomOf(reader, 1);
    let own = 0;
    let leave: (() => void) | undefined;
    const meter: ReadMeter = {
      take: async (bytes) => {
        own += bytes;
        add(key, bytes);
        if (own > room) room = await roomOf(reader, own);
        if (own <= LARGE_BYTES || leave !== undefined) return;
        leave = await slots.take(key, signal, TURN_MS);
        if (leave === undefined) throw tooMuch();
      },
    };
    try {
      return await read(meter);
    } finally {
      leave?.();
    }
  };
}

function tooMuch(): HelixError {
  return new HelixError('too_many_requests', 'Too much is being read at once; wait a little.');
}
