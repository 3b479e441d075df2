import { createMemoryData, createStoresOn, type MemoryData } from '../../stores/memory/index.js';
import type { Store } from '../../stores/contract/store.js';
import { drive, type SessionDriver } from '../support/session-driver.js';
import type { Carry, CallsOutcome } from '../../workflows/carry.js';
import { readStored, type StoredSession } from './stored-session.js';

export const SESSION = 'explored';

/** A workflow execution, as far as its decisions go: plain data, so that a world can be copied. */
export interface SimulatedRun {
  runId: string;
  carry: Carry;
  /** Terminated from outside, failed or completed: it decides nothing more. */
  isClosed: boolean;
  /** The model step that is scheduled or under way, and the attempt at it. */
  model?: { step: number; attempt: number; isClaimed: boolean } | undefined;
  /** The step whose calls are carried out or waited for. */
  calls?: { outcome: CallsOutcome; isAnswered: boolean } | undefined;
  /** Tool activities of that step by call. */
  tools: Record<string, { attempt: number; isStarted: boolean; isDone: boolean }>;
}

/** How much of each may still happen: this bounds the exploration. */
export interface Budget {
  messages: number;
  calls: number;
  crashes: number;
  lostSignals: number;
  stops: number;
  terminations: number;
}

interface Clock {
  now: number;
}

/** Everything there is: the record of one session, and the workflows that work on it. */
export interface World {
  data: MemoryData;
  clock: Clock;
  /** Which clock the store reads: worlds whose records come of one another share it. */
  time: { clock: Clock };
  runs: Record<string, SimulatedRun>;
  budget: Budget;
  /** How often each call was permitted to execute. */
  executions: Record<string, number>;
}

export function createWorld(budget: Budget): World {
  // Ahead of the clock of the driver, some of whose calls take the machine's.
  const clock = { now: Date.now() + 3_600_000 };
  const time = { clock };
  const data = createMemoryData({ now: () => time.clock.now });
  return { data, clock, time, runs: {}, executions: {}, budget };
}

/** A copy: what happens in it is not seen in the other. */
export function copyWorld({ data, time, ...rest }: World): World {
  return { data: { ...data, keyspace: data.keyspace.fork() }, time, ...structuredClone(rest) };
}

/** The store over a world's record. */
export function storeOf({ data, time, clock }: World): Store {
  time.clock = clock;
  return createStoresOn(data).store;
}

/** The random part of the next run's id: a nonce of its own, and the same in like worlds. */
export function nextNonce(world: World): string {
  return `n${recordOf(world)?.root['runN'] ?? '0'}`;
}

/** The session, driven transition by transition. */
export function driverOf({ data, time, clock }: World): SessionDriver {
  time.clock = clock;
  return drive(createStoresOn(data), SESSION);
}

/** What is stored; undefined before the first message. */
export function recordOf({ data, time, clock }: World): StoredSession | undefined {
  time.clock = clock;
  return readStored(data.keyspace, SESSION);
}
