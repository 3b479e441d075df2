import type { AgentDefinition } from '../agents/definitions.js';
import type { AgentRegistry } from '../agents/registry.js';
import type { FindOwner } from './session-owners.js';

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
    const userId = owner === undefined ? {} : { userId: owner.owner };
    return agents.get(agent, { sessionId, runId, ...userId });
  };
}
