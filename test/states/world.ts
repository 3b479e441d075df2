import { createMemoryData, type MemoryData } from '../../stores/memory/index.js';
import { createMemorySessionStore } from '../../stores/memory/session-store.js';
import { createMemoryStreamLog } from '../../stores/memory/stream-log.js';
import type { Store } from '../../stores/contract/store.js';
import { createStreamManager } from '../../stores/log/create-stream-manager.js';
import { drive, type SessionDriver } from '../support/session-driver.js';
import type { Carry, CallsOutcome } from '../../workflows/carry.js';

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

/** Everything there is: the record of one session, and the workflows that work on it. */
export interface World {
  data: MemoryData;
  clock: { now: number };
  runs: Record<string, SimulatedRun>;
  budget: Budget;
  /** How often each call was permitted to execute. */
  executions: Record<string, number>;
}

export function createWorld(budget: Budget): World {
  // Ahead of the clock of the driver, some of whose calls take the machine's.
  const clock = { now: Date.now() + 3_600_000 };
  return fromParts({ clock, runs: {}, executions: {}, budget }, new Map());
}

/** A copy that shares nothing. */
export function copyWorld({ data, ...rest }: World): World {
  const copy = structuredClone({ rest, sessions: data.sessions });
  return fromParts(copy.rest, copy.sessions);
}

function fromParts(rest: Omit<World, 'data'>, sessions: MemoryData['sessions']): World {
  const { clock } = rest;
  return { ...rest, data: { ...createMemoryData({ now: () => clock.now }), sessions } };
}

/** The store over a world's record. */
export function storeOf({ data }: World): Store {
  return createMemorySessionStore(data);
}

/** The random part of the next run's id: a nonce of its own, and the same in like worlds. */
export function nextNonce({ data }: World): string {
  return `n${String(data.sessions.get(SESSION)?.runCount ?? 0)}`;
}

/** The session, driven transition by transition. */
export function driverOf(world: World): SessionDriver {
  const streamManager = createStreamManager(createMemoryStreamLog(world.data));
  return drive({ store: storeOf(world), streamManager }, SESSION);
}

/** Two worlds of one fingerprint have the same future: clocks and sequences make no difference. */
export function fingerprint({ data, runs, executions, budget }: World): string {
  return JSON.stringify([data.sessions.get(SESSION), runs, executions, budget], withoutClock);
}

const CLOCKED = new Set([
  ...['createdAt', 'startedAt', 'endedAt', 'updatedAt', 'at', 'timestamp'],
  ...['askedAt', 'pauseSequence', 'startSequence', 'streamSequence', 'first', 'known', 'sequence'],
  ...['born', 'checkpoints', 'log', 'root'],
]);

function withoutClock(key: string, value: unknown): unknown {
  if (CLOCKED.has(key)) return undefined;
  if (key === 'deadline') return 'set';
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return value;
}
