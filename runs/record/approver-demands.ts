import { createApproverCheck } from '../../agents/approvers.js';
import type { AgentRegistry } from '../../agents/registry.js';
import type { ToolAnswer } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { startOf } from '../../protocol/limits.js';
import {
  askedByOf,
  lackedRoles,
  mayWithdraw,
  type AskedBy,
  type Responder,
  needsRole,
} from '../../protocol/actor.js';
import type { CallSpec } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';

const REASON_CHARS = 2_000;

export type ConversationOfCall = Pick<SessionRecord, 'sessionId' | 'agent'> & AskedBy;

export interface ApproverDemands {
  /** @throws HelixError `unavailable` if a tool's function does not decide in time */
  areMet: (
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
  ) => Promise<boolean>;
  /** Requires that the responder may approve the call. @throws as `require` */
  requireApprover: (
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
  ) => Promise<void>;
  /**
   * Requires that the responder may give this answer. The people who caused the call may always
   * withdraw it, see `hasAsked`; all others have to be approvers, also to deny it.
   *
   * @throws HelixError `not_allowed`, which names the roles that would do; `unavailable` if a tool's
   * function does not decide in time
   */
  require: (
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
    answer: ToolAnswer,
  ) => Promise<void>;
}

export function createApproverDemands(deps: {
  store: Pick<Store, 'sessions'>;
  agents: Pick<AgentRegistry, 'get'>;
}): ApproverDemands {
  const { store, agents } = deps;
  const check = createApproverCheck(agents);

  async function readAsker({ sessionId, agent }: ConversationOfCall, { runId }: CallSpec) {
    const asker = sessionOfRun(runId);
    return asker === sessionId ? agent : (await store.sessions.read(asker))?.agent;
  }

  async function judge(
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
    input: unknown = call.input,
  ): Promise<{ allowed: boolean; reason?: string }> {
    const { sessionId, owner, tenant } = conversation;
    const { toolCallId, toolName, runId, approvers } = call;
    if (approvers === undefined) return { allowed: true };
    const agent = approvers.rule === true ? await readAsker(conversation, call) : undefined;
    return check(responder, call, {
      sessionId: toShownSessionId(sessionId),
      owner,
      ...(tenant !== undefined && { tenantId: tenant }),
      runId,
      toolCallId,
      toolName,
      input,
      agent: agent ?? '',
      askedBy: askedByOf(conversation, call),
    });
  }

  async function requireApprover(
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
    input?: unknown,
  ): Promise<void> {
    const { allowed, reason } = await judge(responder, conversation, call, input);
    if (allowed) return;
    const missing = lackedRoles(call.approvers, responder, askedByOf(conversation, call));
    if (missing.length > 0) throw needsRole(missing);
    const detail = reason === undefined ? undefined : { reason: startOf(reason, REASON_CHARS) };
    throw new HelixError('not_allowed', 'Another person has to decide about this call.', {
      detail,
    });
  }

  return {
    areMet: async (responder, conversation, call) =>
      (await judge(responder, conversation, call)).allowed,
    requireApprover,
    require: async (responder, conversation, call, answer) => {
      if (call.approvers === undefined) return;
      const isApproval = answer.kind === 'approval-response';
      const isWithdrawal = isApproval ? !answer.approved : answer.error !== undefined;
      if (isWithdrawal && mayWithdraw(responder, conversation, call)) return;
      await requireApprover(responder, conversation, call, isApproval ? answer.input : undefined);
    },
  };
}
