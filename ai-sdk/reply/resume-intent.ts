import type { PostedMessage } from '../../protocol/http.js';
import { parseApprovalId } from '../../protocol/ids.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import type { PendingCall } from '../../store/contract/calls.js';
import type { SessionRecord } from '../../store/contract/sessions.js';

/** An answer to a pending call, as the client's copy of the conversation shows it. */
export type ResumeIntent =
  | {
      kind: 'approval-response';
      toolCallId: string;
      approvalId: string;
      inputHash?: string;
      approved: boolean;
      reason?: string;
    }
  | ({ kind: 'client-tool-result'; toolCallId: string; inputHash?: string } & (
      { result: unknown } | { error: string }
    ));

/** An answer for which no call waits. */
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

/** The calls for which a session waits, as the state store's `load` returns them. */
export interface ResumableState {
  pendingClientToolCalls: Readonly<Record<string, PendingCall>>;
  /** The transcript, with the results of the newest turn's earlier calls. */
  messages?: readonly Row[];
  /** Index of the newest turn's first row. */
  turnStartRow?: number;
}

/**
 * Reads answers out of posted messages. Only the last assistant message counts, and of each part
 * only the id and the person's answer: the input of a tool was fixed when the model called it.
 *
 * @param state null if the session does not exist
 * @param currentRunId the session's newest run; undefined without a session
 */
export function extractResumeIntent(
  messages: readonly PostedMessage[],
  state: ResumableState | null,
  currentRunId?: string,
): ResumeIntents {
  const { pendingClientToolCalls = {}, messages: rows = [], turnStartRow = 0 } = state ?? {};
  const calls = new Map(Object.entries(pendingClientToolCalls));
  const settled = collectClientResults(calls.values(), rows.slice(turnStartRow));
  const newest = new Set<unknown>(
    toLastStep(messages.findLast(({ role }) => role !== 'user')).map((part) => part['toolCallId']),
  );
  const result: ResumeIntents = {
    intents: [],
    rejected: [],
    hasTrailingUserMessage: messages.at(-1)?.role === 'user',
  };
  const answered = new Set<string>();
  const rejected = new Map<string, RejectedIntent>();
  for (const part of findAnswers(messages)) {
    const toolCallId = String(part['toolCallId']);
    if (answered.has(toolCallId)) continue;
    const verdict =
      part['state'] === 'approval-responded'
        ? readApproval(part, toolCallId, calls.get(toolCallId), currentRunId)
        : (readRepeated(part, toolCallId, settled.get(toolCallId), newest.has(toolCallId)) ??
          readResult(part, toolCallId, calls.get(toolCallId)));
    if (verdict === undefined) continue;
    if ('kind' in verdict) {
      answered.add(toolCallId);
      result.intents.push(verdict);
    } else if (!rejected.has(toolCallId)) {
      rejected.set(toolCallId, verdict);
    }
  }
  // An accepted answer replaces rejected answers to the same call.
  result.rejected = [...rejected.values()].filter(({ toolCallId }) => !answered.has(toolCallId));
  return result;
}

/** Returns true if the messages may contain answers, so that pending calls must be read. */
export function hasAnswers(messages: readonly PostedMessage[]): boolean {
  return findAnswers(messages).length > 0;
}

/** Returns the ids of calls for which the messages contain client tools' results or errors. */
export function toResults(messages: readonly PostedMessage[]): string[] {
  const results = findAnswers(messages).filter((part) => part['state'] !== 'approval-responded');
  return results.map((part) => String(part['toolCallId']));
}

/** Returns the answered parts of the last assistant message. */
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
  call: PendingCall | undefined,
  currentRunId: string | undefined,
): ResumeIntent | RejectedIntent | undefined {
  const { id: approvalId, approved, reason } = toRecord(part['approval']);
  if (typeof approvalId !== 'string' || typeof approved !== 'boolean') return undefined;
  const named = parseApprovalId(approvalId);
  if (named?.toolCallId !== toolCallId) return { toolCallId, reason: 'not-pending' };
  const { runId } = named;
  // A sub-agent's approval names the sub-agent's run.
  if (runId !== (call?.runId ?? currentRunId)) {
    return { toolCallId, reason: 'stale-run', runId };
  }
  if (call === undefined) return { toolCallId, reason: 'not-pending', runId };
  if (call.kind !== 'approval') return { toolCallId, reason: 'kind-mismatch', runId };
  if (call.response !== undefined) return { toolCallId, reason: 'already-completed', runId };
  const text = typeof reason === 'string' && reason !== '' ? reason : undefined;
  return {
    kind: 'approval-response',
    toolCallId,
    approvalId,
    ...shownInputOf(part, call),
    approved,
    reason: text,
  };
}

/** Reads a result. Old results stay in the message, so only one for a waiting call is an answer. */
function readResult(
  part: PostedPart,
  toolCallId: string,
  call: PendingCall | undefined,
): ResumeIntent | RejectedIntent | undefined {
  if (call === undefined || call.response !== undefined) return undefined;
  const { kind } = call;
  const isError = part['state'] === 'output-error';
  // A posted error cancels an approval.
  if (kind === 'approval' && !isError) {
    return { toolCallId, reason: 'kind-mismatch' };
  }
  const shown = shownInputOf(part, call);
  if (!isError) return { ...toResultIntent(part, toolCallId), ...shown };
  const text = part['errorText'];
  const error = typeof text === 'string' ? text : 'The client reported an error.';
  return { kind: 'client-tool-result', toolCallId, ...shown, error };
}

/** Returns the hash of the input that the client shows, for a call with approvers. */
function shownInputOf(part: PostedPart, { approvers }: PendingCall): { inputHash?: string } {
  if (approvers === undefined || !('input' in part)) return {};
  return { inputHash: hashInput(part['input']) };
}

function toResultIntent(part: PostedPart, toolCallId: string): ResumeIntent {
  return { kind: 'client-tool-result', toolCallId, result: part['output'] ?? null };
}

/** Collects the results of this turn's client tools, by call. */
function collectClientResults(
  pending: Iterable<PendingCall>,
  rows: readonly Row[],
): Map<string, ToolRow> {
  const clientCalls = collectClientCalls(rows);
  const results = new Map<string, ToolRow>();
  for (const row of rows) {
    if (row.role === 'tool' && clientCalls.has(row.toolCallId)) results.set(row.toolCallId, row);
  }
  for (const { kind, toolCallId, response } of pending) {
    if (kind === 'client' && response?.row !== undefined) results.set(toolCallId, response.row);
  }
  return results;
}

function collectClientCalls(rows: readonly Row[]): Set<string> {
  const calls = new Set<string>();
  for (const row of rows) {
    for (const part of row.role === 'assistant' ? row.parts : []) {
      if (part.type === 'tool-call' && part.kind === 'client') calls.add(part.toolCallId);
    }
  }
  return calls;
}

/**
 * Reads a second result of a call. It counts after a timeout; otherwise it is a repetition, and a
 * page whose copy ends there gets the stream after it.
 */
function readRepeated(
  part: PostedPart,
  toolCallId: string,
  result: ToolRow | undefined,
  isNewest: boolean,
): ResumeIntent | RejectedIntent | undefined {
  if (result === undefined) return undefined;
  if (result.errorCode === 'client_tool_timeout' && part['state'] === 'output-available') {
    return toResultIntent(part, toolCallId);
  }
  return isNewest ? { toolCallId, reason: 'already-completed' } : undefined;
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Returns the parts of a posted message's newest step. */
export function toLastStep(
  message: PostedMessage | undefined,
): NonNullable<PostedMessage['parts']> {
  const parts = message?.parts ?? [];
  return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
}

/** Returns true for a partial copy of the newest reply, posted after a lost connection. */
export function isCutShort(
  { messageId, stream }: Pick<SessionRecord, 'messageId' | 'stream'>,
  posted: PostedMessage | undefined,
): boolean {
  if (posted?.role !== 'assistant' || posted.id !== messageId) return false;
  return stream === 'active' || toLastStep(posted).some(isStreaming);
}

/** Returns true if the copy's newest step asks a person or the page, and is not being streamed. */
export function showsQuestion(posted: PostedMessage | undefined, rows: readonly Row[]): boolean {
  const last = toLastStep(posted);
  if (last.some(isStreaming)) return false;
  const asked = collectClientCalls(rows);
  return last.some(
    ({ state, toolCallId }) =>
      state === 'approval-requested' ||
      state === 'approval-responded' ||
      asked.has(String(toolCallId)),
  );
}

function isStreaming({ state }: Record<string, unknown>): boolean {
  return state === 'streaming' || state === 'input-streaming';
}
