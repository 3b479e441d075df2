import { createHash, randomBytes } from 'node:crypto';
import type { Actor } from '../../protocol/actor.js';
import type { ToolAnswer } from '../../protocol/answers.js';
import type { Act, AuditAction } from '../contract/audit.js';
import type { CallSpec } from '../contract/call-record.js';

type Facts = Pick<
  Act,
  'tenant' | 'owner' | 'runId' | 'toolCallId' | 'toolName' | 'inputHash' | 'detail'
>;

/** An act for the audit trail; of a reason only its hash is kept. */
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

/** The act of answering a call. The hash is of what the tool gets, or of what the model gets. */
export function toAnswerAct(
  answer: ToolAnswer,
  actor: Actor,
  asked: Pick<CallSpec, 'toolCallId' | 'toolName' | 'runId'> & Pick<Partial<CallSpec>, 'input'>,
  tenant: string | undefined,
  at: number,
): Act {
  const { toolCallId, toolName, runId } = asked;
  const facts = { tenant, runId, toolCallId, toolName };
  if (answer.kind === 'approval-response') {
    const { approved, reason, input = asked.input } = answer;
    return approved
      ? toAct('approve', actor, { ...facts, reason, inputHash: hashJson(input) }, at)
      : toAct('deny', actor, { ...facts, reason }, at);
  }
  return answer.error === undefined
    ? toAct('result', actor, { ...facts, inputHash: hashJson(answer.result ?? null) }, at)
    : toAct('error', actor, { ...facts, reason: answer.error }, at);
}

function hashJson(value: unknown): string | undefined {
  return value === undefined ? undefined : hashText(JSON.stringify(value));
}

/** SHA-256 as base64url. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
