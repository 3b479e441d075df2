import { z } from 'zod';
import { LIMITS } from './limits.js';

/** Requests and replies of `/api/operator/agents`. Times in replies are ms since the epoch. */

export const OperatorAgentPath = z.object({ agent: z.string().min(1).max(LIMITS.idChars) });

/** `POST /api/operator/agents/:agent/pause` and `…/unpause`. */
export const OperatorPauseBody = z
  .object({
    /** Over all tenants; for callers without one. */
    everywhere: z.boolean().default(false),
    reason: z.string().min(1).max(LIMITS.errorTextBytes).optional(),
  })
  .prefault({});

export const OperatorPauseReply = z.object({
  result: z.enum(['paused', 'already_paused', 'resumed', 'not_paused']),
});
export type OperatorPauseReply = z.infer<typeof OperatorPauseReply>;

const OperatorAgent = z
  .object({
    name: z.string(),
    /** False for an agent that people may not talk to. */
    isPublic: z.boolean(),
    isDefault: z.boolean(),
    /** Empty for an agent that works. */
    pauses: z.array(
      z.object({
        /** Over all tenants. */
        everywhere: z.boolean(),
        at: z.number(),
        /** Absent where another tenant's people are meant. */
        by: z.string().optional(),
        reason: z.string().optional(),
      }),
    ),
    /** Runs of the tenant that wait for the agent. */
    held: z.number(),
  })
  .meta({ id: 'OperatorAgent' });
export type OperatorAgent = z.infer<typeof OperatorAgent>;

/** Body of `GET /api/operator/agents`. */
export const OperatorAgents = z.object({ agents: z.array(OperatorAgent) });
export type OperatorAgents = z.infer<typeof OperatorAgents>;
