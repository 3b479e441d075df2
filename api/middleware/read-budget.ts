import { setTimeout as delay } from 'node:timers/promises';
import { HelixError } from '../../protocol/errors.js';
import { createFairSlots } from '../../protocol/fair-slots.js';
import type { ReadMeter } from '../../store/contract/log.js';

/** A request that reads, and the effects of a refusal on it. */
export interface Reader {
  /** Names the sender whose reads are counted together. */
  key: string;
  /** Aborts when the client has closed the connection. */
  signal: AbortSignal;
  /** True once the reply has begun; the reader then waits instead of being refused. */
  hasBegun: () => boolean;
  /** Gets the seconds after which a refused reader may try again. */
  onRefusal: (seconds: number) => void;
}

/** Performs one read and counts its bytes as they come from the store. */
export type CountRead = <T>(read: (meter?: ReadMeter) => Promise<T>) => Promise<T>;

const KB = 1024;
const MINUTE_MS = 60_000;
/** Size of an ordinary page, which a sender may still read after spending the minute's bytes. */
const ORDINARY_BYTES = 256 * KB;
/** A larger read takes a slot. */
const LARGE_BYTES = KB * KB;
/** Large reads at once: in this process, and running and waiting ones per sender. */
const LARGE_AT_ONCE = { total: 4, perUser: 2, waiting: 8 };
const TURN_MS = 30_000;
const LOOK_AGAIN_MS = 1_000;
const MAX_SENDERS = 10_000;
/** A sender's debt is at most the bytes of this many minutes, which bounds its wait. */
const MAX_MINUTES = 3;

/**
 * Returns the bytes that one read may take: all until its sender has spent a minute's bytes, then
 * an ordinary page until they are spent twice, then none. Pure.
 */
export function roomFor(spent: number, perMinute: number): number {
  if (spent < perMinute) return Infinity;
  return spent < 2 * perMinute ? ORDINARY_BYTES : 0;
}

/**
 * Bounds each sender's bytes per minute, and its concurrent large reads, for which senders take
 * turns. A large read is refused before it begins, never in the middle.
 */
export function createReadBudget(
  perMinute: number,
  now: () => number = () => performance.now(),
): (reader: Reader) => CountRead {
  const spent = new Map<string, { bytes: number; at: number }>();
  const slots = createFairSlots(LARGE_AT_ONCE);

  /** Returns the sender's debt, which falls by a minute's bytes per minute. */
  function spentBy(key: string): number {
    const { bytes, at } = spent.get(key) ?? { bytes: 0, at: 0 };
    const left = bytes - ((now() - at) * perMinute) / MINUTE_MS;
    if (left > 0) return left;
    spent.delete(key);
    return 0;
  }

  function add(key: string, bytes: number): void {
    if (spent.size >= MAX_SENDERS) for (const each of spent.keys()) spentBy(each);
    spent.set(key, { bytes: Math.min(spentBy(key) + bytes, MAX_MINUTES * perMinute), at: now() });
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
        leave = await slots.take(key, TURN_MS, signal);
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
