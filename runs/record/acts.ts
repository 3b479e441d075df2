import { createHash, randomBytes } from 'node:crypto';
import type { Actor } from '../../protocol/actor.js';
import type { ToolAnswer } from '../../protocol/answers.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { Act, AuditAction } from '../../store/contract/audit.js';
import type { CallSpec } from '../../store/contract/call-record.js';

type Facts = Pick<
  Act,
  'tenant' | 'owner' | 'runId' | 'toolCallId' | 'toolName' | 'inputHash' | 'detail'
>;

/** Creates an act for the audit trail, with only the hash of its reason. */
export function toAct(
  action: AuditAction,
  { by, roles, via = 'api', actId = randomBytes(12).toString('base64url') }: Actor,
  { reason, ...facts }: Facts & { reason?: string | undefined } = {},
  at = Date.now(),
): Act {
  return {
    id: actId,
    at,
    by,
    roles,
    via,
    action,
    ...facts,
    reasonHash: reason === undefined ? undefined : hashText(reason),
  };
}

/**
 * Creates the act of answering a call. The hash is of the input that the tool gets, or of the
 * result that the model gets; if a person has changed the input, the model's is hashed as well.
 */
export function toAnswerAct(
  answer: ToolAnswer,
  actor: Actor,
  asked: Pick<CallSpec, 'toolCallId' | 'toolName' | 'runId'> &
    Pick<Partial<CallSpec>, 'input' | 'edited'>,
  tenant: string | undefined,
  at: number,
): Act {
  const { toolCallId, toolName, runId } = asked;
  const facts = { tenant, runId, toolCallId, toolName };
  if (answer.kind === 'approval-response') {
    const { approved, reason, input = asked.input } = answer;
    if (!approved) return toAct('deny', actor, { ...facts, reason }, at);
    const before = hashInput(asked.edited === undefined ? asked.input : asked.edited.from);
    const inputHash = hashInput(input);
    const detail = { edited: true, inputHashBefore: before };
    const more = before === inputHash ? {} : { detail };
    return toAct('approve', actor, { ...facts, reason, inputHash, ...more }, at);
  }
  return answer.error === undefined
    ? toAct('result', actor, { ...facts, inputHash: hashInput(answer.result) }, at)
    : toAct('error', actor, { ...facts, reason: answer.error }, at);
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
