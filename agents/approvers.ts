import { hasCode } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import {
  fulfils,
  type AskedBy,
  type Responder,
  verdictInTime,
  type Approvers,
} from '../protocol/actor.js';
import type { ToolDefinition } from './definitions.js';
import type { AgentRegistry } from './registry.js';
import type { ApprovalRequest } from './tool-config.js';

/** Returns the demands stored with each call of a tool; undefined if there are none. */
export function toApprovers({
  approvers,
  separateApprover,
}: Pick<ToolDefinition, 'approvers' | 'separateApprover'>): Approvers | undefined {
  if (approvers === undefined && separateApprover !== true) return undefined;
  return {
    ...(typeof approvers === 'function' && { rule: true }),
    ...(typeof approvers === 'object' && { roles: [...approvers] }),
    ...(separateApprover === true && { separate: true }),
  };
}

/**
 * Returns `allowed: true` if a responder fulfils the demands of a call's tool.
 *
 * @throws HelixError `unavailable` if the tool's function does not decide in time
 */
export type ApproverCheck = (
  responder: Responder,
  call: {
    toolName: string;
    runId: string;
    approvers?: Approvers | undefined;
  },
  request: ApprovalRequest & { agent: string; askedBy: AskedBy },
) => Promise<{ allowed: boolean; reason?: string }>;

/**
 * Checks responders against the demands stored with a call. The agents supply the tool's own
 * function; a process that does not know the tool refuses.
 */
export function createApproverCheck(agents: Pick<AgentRegistry, 'get'>): ApproverCheck {
  return async (responder, { toolName, runId, approvers }, { agent, askedBy, ...request }) => {
    if (!fulfils(approvers, responder, askedBy)) return { allowed: false };
    if (approvers?.rule !== true) return { allowed: true };
    try {
      const sessionId = sessionOfRun(runId);
      const { owner: userId, tenantId } = request;
      const scope = { userId, tenantId, sessionId, runId };
      const tool = agents.get(agent, scope)?.tools.find(({ name }) => name === toolName);
      if (typeof tool?.approvers !== 'function') return { allowed: false };
      const verdict = await verdictInTime(tool.approvers(responder, request));
      if (typeof verdict === 'boolean') return { allowed: verdict };
      // Plain JavaScript may return anything; only a clear yes counts.
      const { allowed, reason } = verdict as { allowed: unknown; reason?: unknown };
      return {
        allowed: allowed === true,
        ...(typeof reason === 'string' && { reason }),
      };
    } catch (error) {
      if (hasCode(error, 'unavailable')) throw error;
      return { allowed: false };
    }
  };
}
