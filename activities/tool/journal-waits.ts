import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { toApprovers } from '../../agents/approvers.js';
import { findForeignSchema } from '../../agents/foreign-schema.js';
import type { SuspendOptions, WebhookOptions } from '../../agents/tool-journal.js';
import { ROLES } from '../../protocol/actor.js';
import { rootOf } from '../../protocol/ids.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import { Approvers } from '../../protocol/roles.js';
import type { SuspendCallInput } from '../../stores/contract/journal.js';
import type { Writer } from '../../stores/contract/log.js';
import { webhookCallId } from '../../stores/record/webhook-call.js';
import { JournalFailure } from './journal-names.js';

/** What a tool waits for, as a call of the step. Pure but for the ids. */

type Waiting = Pick<SuspendCallInput, 'wait' | 'dueInMs'>;
interface WaitingCall {
  toolCallId: string;
  toolName: string;
}

/** Before this the number is a duration rather than a time: 1973. */
const EARLIEST_MS = 100_000_000_000;

/** @throws JournalFailure `invalid_wait` */
export function toTimer(of: WaitingCall, toolName: string, until: Date | number): Waiting {
  const at = until instanceof Date ? until.getTime() : until;
  if (typeof at !== 'number' || !Number.isFinite(at) || at < EARLIEST_MS) {
    throw invalid('sleep takes a Date, or ms since the epoch: new Date(Date.now() + 60_000)');
  }
  const dueInMs = checkWait(Math.max(0, Math.ceil(at - Date.now())));
  const id = mintId(of);
  return {
    wait: {
      toolCallId: id,
      toolName,
      kind: 'timer',
      input: {},
      deadlineMs: dueInMs,
      of: of.toolCallId,
    },
    dueInMs,
  };
}

/** @throws JournalFailure `invalid_wait` */
export function toQuestion(
  { sessionId, agentType, step }: Writer,
  of: WaitingCall,
  toolName: string,
  { schema, data, deadlineMs, approvers, separateApprover }: SuspendOptions,
): Waiting {
  if (deadlineMs !== undefined) checkWait(deadlineMs);
  if (
    approvers !== undefined &&
    !Approvers.shape.roles.unwrap().min(1).safeParse(approvers).success
  ) {
    throw invalid(`approvers is a list of roles: ${ROLES.join(', ')}`);
  }
  const toolCallId = mintId(of);
  const input = {
    for: of.toolName,
    schema: toJsonSchema(schema),
    ...(data !== undefined && { data }),
  };
  const fault = findJsonFault(input);
  if (fault !== undefined) throw invalid(`data cannot be stored: ${fault}`);
  if (Buffer.byteLength(JSON.stringify(input)) > LIMITS.callInputBytes) {
    throw invalid('data and schema are too large');
  }
  const base = { agentId: rootOf(sessionId), agentType, step, timestamp: Date.now() };
  const ask = { type: 'tool_start' as const, ...base, toolCallId, toolName, arguments: input };
  const call = { toolCallId, toolName, kind: 'client' as const, input };
  const demanded = toApprovers({ approvers, separateApprover });
  return { wait: { ...call, deadlineMs, approvers: demanded, ask, of: of.toolCallId } };
}

/** @throws JournalFailure `invalid_wait` */
export function toWebhook(
  of: WaitingCall,
  toolName: string,
  secret: string,
  { schema, deadlineMs }: Pick<WebhookOptions<z.ZodType>, 'schema' | 'deadlineMs'>,
): Waiting {
  const { toolCallId } = of;
  const dueInMs = checkWait(deadlineMs);
  const input = { ...(schema !== undefined && { schema: toJsonSchema(schema) }) };
  const call = { toolName, kind: 'webhook' as const, input, deadlineMs, of: toolCallId };
  return { wait: { ...call, toolCallId: webhookCallId({ toolCallId, secret }) }, dueInMs };
}

/** @throws JournalFailure `invalid_wait` */
function toJsonSchema(schema: z.ZodType): unknown {
  const foreign = findForeignSchema(schema);
  if (foreign !== undefined) throw invalid(`schema ${foreign}`);
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: dropFlagged });
}

/** A pattern of JSON Schema has no flags; without them it would refuse what the tool accepts. */
function dropFlagged({ zodSchema, jsonSchema }: JsonSchemaContext): void {
  const { checks = [] } = zodSchema._zod.def;
  const patterns = [zodSchema, ...checks].map(
    ({ _zod }) => (_zod.def as { pattern?: unknown }).pattern,
  );
  if (!patterns.some((each) => each instanceof RegExp && /[imsuv]/.test(each.flags))) return;
  delete jsonSchema.pattern;
  // Where a string has several patterns.
  delete jsonSchema.allOf;
}

type JsonSchemaContext = Parameters<Required<z.core.ToJSONSchemaParams>['override']>[0];

function checkWait(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 0 && ms <= LIMITS.sleepMs) return ms;
  throw invalid(`a wait takes at most ${String(LIMITS.sleepMs)} ms`);
}

function invalid(message: string): JournalFailure {
  return new JournalFailure('invalid_wait', message);
}

/** An id that no model can have chosen. */
function mintId({ toolCallId }: WaitingCall): string {
  return `${toolCallId.slice(0, LIMITS.idChars - 32)}~${randomBytes(9).toString('base64url')}`;
}

/** What makes the address of a webhook. */
export function mintSecret(): string {
  return randomBytes(32).toString('base64url');
}
