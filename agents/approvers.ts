import { HelixError } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import { fulfils, type AskedBy, type Responder, verdictInTime } from '../protocol/responder.js';
import type { Approvers } from '../protocol/actor.js';
import type { ToolDefinition } from './definitions.js';
import type { AgentRegistry } from './registry.js';
import type { ApprovalRequest } from './tool-config.js';

/** What is stored with each call of a tool; undefined if the tool demands nothing. */
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

/** A call as its record has it. */
interface GuardedCall {
  toolName: string;
  runId: string;
  approvers?: Approvers | undefined;
}

/**
 * Whether a responder fulfils the demands of a call's tool.
 *
 * @throws HelixError `unavailable` if the tool's function does not decide in time
 */
export type ApproverCheck = (
  responder: Responder,
  call: GuardedCall,
  request: ApprovalRequest & { agent: string; askedBy: AskedBy },
) => Promise<{ allowed: boolean; reason?: string }>;

/**
 * Checks responders against what is stored with a call. The tool's own function is found through the
 * agents; a process that does not know the tool refuses.
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
      // It may come from plain JavaScript: only a clear yes is one.
      const { allowed, reason } = verdict as { allowed: unknown; reason?: unknown };
      return {
        allowed: allowed === true,
        ...(typeof reason === 'string' && { reason }),
      };
    } catch (error) {
      if (HelixError.isInstance(error) && error.code === 'unavailable') throw error;
      return { allowed: false };
    }
  };
}
