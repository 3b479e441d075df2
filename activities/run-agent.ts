import type { AgentDefinition } from '../agents/definitions.js';
import type { AgentRegistry } from '../agents/registry.js';
import { rootOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { retryDelay } from '../protocol/time.js';
import type { SessionRecord, Sessions } from '../store/contract/sessions.js';
import type { Attempt } from './attempt.js';
import { AttemptFailure } from './attempt-failure.js';

export interface AgentRef {
  agent: string;
  sessionId: string;
  runId: string;
}

/** Finds the definition of a run's agent; undefined if this worker does not know it. */
export type FindAgent = (ref: AgentRef) => Promise<AgentDefinition | undefined>;

/** The owner is read only where a factory may ask for it. */
export function createAgentLookup(agents: AgentRegistry, findOwner: FindOwner): FindAgent {
  return async ({ agent, sessionId, runId }) => {
    const owner = agents.isMade(agent) ? await findOwner({ sessionId, runId }) : undefined;
    const whose = { userId: owner?.owner, tenantId: owner?.tenant };
    return agents.get(agent, { sessionId, runId, ...whose });
  };
}

const RETRY = { firstMs: 500, mostMs: 5_000 };

/**
 * For a worker that does not know the agent, or the tool: during a deploy another one does. Called
 * before the record gives permission, so that nothing counts as begun.
 *
 * @throws AttemptFailure `unknown_agent`, retryable, until no worker has known it for ten minutes
 */
export function leaveToNewerWorker(attempt: Attempt, what: string): void {
  if (attempt.ageMs() >= LIMITS.unknownAgentMs) return;
  throw new AttemptFailure(`This worker does not know ${what}.`, {
    type: 'unknown_agent',
    afterMs: retryDelay({ attempt: attempt.number, ...RETRY }),
  });
}

/** The cache holds the owners of this many runs. */
const MOST = 5_000;

export type SessionOwner = Pick<SessionRecord, 'owner' | 'tenant'>;

/**
 * Finds the owner of a run's conversation; undefined if it was erased. Cached by run: the id of an
 * erased session may be reused by another user.
 */
export type FindOwner = (run: {
  sessionId: string;
  runId: string;
}) => Promise<SessionOwner | undefined>;

export function createOwnerLookup(sessions: Pick<Sessions, 'read'>): FindOwner {
  const known = new Map<string, SessionOwner>();
  return async ({ sessionId, runId }) => {
    const found = known.get(runId);
    if (found !== undefined) return found;
    const record = await sessions.read(rootOf(sessionId));
    if (record === undefined) return undefined;
    const { owner, tenant } = record;
    if (known.size >= MOST) known.delete(known.keys().next().value ?? '');
    const stored = { owner, tenant };
    known.set(runId, stored);
    return stored;
  };
}
