import type { PostedMessage } from '../protocol/http.js';
import { parseApprovalId } from '../protocol/ids.js';
import type { OpenCall } from '../stores/session-store.js';

/** An answer to a pending call, as the client's copy of the conversation shows it. */
export type ResumeIntent =
  | {
      kind: 'approval-response';
      toolCallId: string;
      approvalId: string;
      approved: boolean;
      reason?: string;
    }
  | { kind: 'client-tool-result'; toolCallId: string; result: unknown }
  | { kind: 'client-tool-result'; toolCallId: string; error: string };

/** An answer that nothing waits for. */
export interface RejectedIntent {
  toolCallId: string;
  reason: 'stale-run' | 'not-pending' | 'already-completed' | 'kind-mismatch' | 'expired';
  runId?: string;
}

export interface ResumeIntents {
  intents: ResumeIntent[];
  rejected: RejectedIntent[];
  hasTrailingUserMessage: boolean;
}

type PostedPart = NonNullable<PostedMessage['parts']>[number];

/**
 * Reads answers out of posted messages. Only the last assistant message counts, and of each part
 * only the id and the person's answer: what a tool is given was fixed when it was asked for.
 *
 * @param openCalls the calls of the session's newest step
 * @param currentRunId the session's newest run; undefined if there is none
 */
export function extractResumeIntent(
  messages: readonly PostedMessage[],
  openCalls: readonly OpenCall[],
  currentRunId: string | undefined,
): ResumeIntents {
  const calls = new Map(openCalls.map((call) => [call.spec.toolCallId, call]));
  const result: ResumeIntents = {
    intents: [],
    rejected: [],
    hasTrailingUserMessage: messages.at(-1)?.role === 'user',
  };
  const seen = new Set<string>();
  for (const part of findAnswers(messages)) {
    const toolCallId = String(part['toolCallId']);
    if (seen.has(toolCallId)) continue;
    const verdict =
      part['state'] === 'approval-responded'
        ? readApproval(part, toolCallId, calls.get(toolCallId), currentRunId)
        : readResult(part, toolCallId, calls.get(toolCallId));
    if (verdict === undefined) continue;
    seen.add(toolCallId);
    if ('kind' in verdict) result.intents.push(verdict);
    else result.rejected.push(verdict);
  }
  return result;
}

/** True if the messages may hold answers: then it is worth looking at what is pending. */
export function hasAnswers(messages: readonly PostedMessage[]): boolean {
  return findAnswers(messages).length > 0;
}

/** Parts of the last assistant message that a person or a page has answered. */
function findAnswers(messages: readonly PostedMessage[]): PostedPart[] {
  const last = messages.findLast(({ role }) => role !== 'user');
  if (last?.role !== 'assistant') return [];
  return (last.parts ?? []).filter(isAnswer);
}

function isAnswer(part: PostedPart): boolean {
  if (part.type !== 'dynamic-tool' && !part.type.startsWith('tool-')) return false;
  if (typeof part['toolCallId'] !== 'string') return false;
  if (part['state'] === 'approval-responded') return true;
  if (part['providerExecuted'] === true) return false;
  return part['state'] === 'output-available' || part['state'] === 'output-error';
}

function readApproval(
  part: PostedPart,
  toolCallId: string,
  call: OpenCall | undefined,
  currentRunId: string | undefined,
): ResumeIntent | RejectedIntent | undefined {
  const { id: approvalId, approved, reason } = toRecord(part['approval']);
  if (typeof approvalId !== 'string' || typeof approved !== 'boolean') return undefined;
  const asked = parseApprovalId(approvalId);
  if (asked?.toolCallId !== toolCallId) {
    return { toolCallId, reason: 'not-pending' };
  }
  const { runId } = asked;
  if (runId !== currentRunId) return { toolCallId, reason: 'stale-run', runId };
  if (call === undefined) return { toolCallId, reason: 'not-pending', runId };
  if (call.spec.kind !== 'approval') return { toolCallId, reason: 'kind-mismatch', runId };
  if (call.state !== 'waiting') return { toolCallId, reason: 'already-completed', runId };
  const said = typeof reason === 'string' && reason !== '' ? { reason } : {};
  return { kind: 'approval-response', toolCallId, approvalId, approved, ...said };
}

/** Results stay in the history of every message: only one of a call that waits is an answer. */
function readResult(
  part: PostedPart,
  toolCallId: string,
  call: OpenCall | undefined,
): ResumeIntent | RejectedIntent | undefined {
  if (call?.state !== 'waiting') return undefined;
  if (call.spec.kind !== 'client') return { toolCallId, reason: 'kind-mismatch' };
  if (part['state'] === 'output-available') {
    return { kind: 'client-tool-result', toolCallId, result: part['output'] ?? null };
  }
  const text = part['errorText'];
  const error = typeof text === 'string' ? text : 'The client reported an error.';
  return { kind: 'client-tool-result', toolCallId, error };
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
