import { isTerminal, type ChildRef } from '../../../../protocol/run.js';
import type { Stores } from '../same-as-redis/session-knowledge.js';
import type { Kind } from './tree-event.js';

/** The stores that are compared. */
export interface Pair {
  memory: Stores;
  /** Does the same to both, and expects the same of them. */
  both: (perform: (stores: Stores) => Promise<unknown>) => Promise<unknown>;
}

export interface Agent {
  sessionId: string;
  runId: string;
}
export interface Call {
  id: string;
  kind: Kind;
  owner: Agent;
  child?: ChildRef;
}

/** What those know who drive a conversation. */
export interface World {
  rootId: string;
  n: number;
  agents: Agent[];
  calls: Call[];
}

const newestFirst = <T>(list: readonly T[], back: number): T | undefined =>
  list[list.length - 1 - (back % Math.max(1, list.length))];

/** Mostly what is at work, so that turns get far. */
export async function choose<T>(
  all: readonly T[],
  back: number,
  isAtWork: (each: T) => Promise<boolean>,
): Promise<T | undefined> {
  if (back === 9) return newestFirst(all, 3);
  const alive = await Promise.all(all.map(isAtWork));
  return newestFirst(
    all.filter((_, at) => alive[at]),
    back,
  );
}

export const agentAt = (
  { agents }: World,
  back: number,
  { memory }: Pair,
): Promise<Agent | undefined> =>
  choose(agents, back, async ({ sessionId, runId }) => {
    const record = await memory.store.sessions.read(sessionId);
    return record?.runId === runId && !isTerminal(record.status);
  });
