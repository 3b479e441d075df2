import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { isDeeperThan, LIMITS, tryParseJson } from '../../protocol/limits.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionCalls } from '../../store/contract/sessions.js';

/** How a post of messages or answers is refused, whatever the protocol. */
export const POSTED_REFUSALS: readonly ErrorCode[] = [
  'agent_mismatch',
  'agent_already_running',
  'not_found',
  'quota_exceeded',
  'budget_exceeded',
  'message_conflict',
  'nothing_to_do',
  'message_too_large',
  'answer_too_large',
  'invalid_result',
  'kind_mismatch',
  'already_completed',
  'not_pending',
  'expired',
  'stale_run',
  'not_allowed',
  'client_out_of_step',
  'queue_full',
];

export interface Decided {
  approved: boolean;
  reason?: string;
  /** The approval that the client names. Default: that of the call. */
  approvalId?: string;
}

export interface Answers {
  /** Texts of tool results, or of errors. */
  results: ReadonlyMap<string, { text: string } | { error: string }>;
  decisions: ReadonlyMap<string, Decided>;
  /** Inputs of calls as the client was shown them. */
  inputs: ReadonlyMap<string, unknown>;
}

type Part = NonNullable<PostedMessage['parts']>[number];

/**
 * Answers of another protocol as a chat client would post them. What kind of answer a call takes is read
 * from the server's record. A result for a call that is decided in the same request is left aside: it
 * belongs to the client's copy of the history. Pure.
 */
export function toPostedAnswers(
  { results, decisions, inputs }: Answers,
  session: SessionCalls | undefined,
): PostedMessage[] {
  if (session === undefined || results.size + decisions.size === 0) return [];
  const { record, openCalls } = session;
  const shownInput = (id: string): object => (inputs.has(id) ? { input: inputs.get(id) } : {});
  const calls = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec]));
  const decided = [...decisions].map(([toolCallId, { approvalId, ...decision }]) => {
    const call = calls.get(toolCallId);
    const asked = call?.approvalId ?? formatApprovalId(record.runId, toolCallId);
    // Where nothing says which input was shown, the answer names no approval that could be meant.
    const isUnseen = call?.approvers !== undefined && !inputs.has(toolCallId);
    const approval = { id: approvalId ?? (isUnseen ? '' : asked), ...decision };
    return {
      type: 'dynamic-tool',
      toolCallId,
      state: 'approval-responded',
      approval,
      ...shownInput(toolCallId),
    };
  });
  const undecided = new Set(openCalls.filter(waitsForDecision).map(({ spec }) => spec.toolCallId));
  const given = [...results].flatMap(([toolCallId, result]): Part[] => {
    if (decisions.has(toolCallId)) return [];
    const base = { type: 'dynamic-tool', toolCallId, ...shownInput(toolCallId) };
    if ('text' in result) {
      return [{ ...base, state: 'output-available', output: parseOutput(result.text) }];
    }
    // An error would withdraw the question, which is more than an entry of a history may do.
    if (undecided.has(toolCallId)) return [{ ...base, state: 'output-available', output: null }];
    return [{ ...base, state: 'output-error', errorText: result.error }];
  });
  // The step mark keeps the calls together, as those of one step are.
  const parts = [{ type: 'step-start' }, ...decided, ...given];
  return [{ id: record.messageId, role: 'assistant', parts }];
}

/** A call that was approved has a result of its own, which clients have in their copy. */
function waitsForDecision({ spec, row, decision }: OpenCall): boolean {
  return spec.kind === 'approval' && row === undefined && decision === undefined;
}

/** The calls of a reply, as clients of OpenAI and AG-UI keep them: by id, with their inputs. Pure. */
export function readShownInputs(calls: unknown): [id: string, input: unknown][] {
  if (!Array.isArray(calls)) return [];
  return (calls as ({ id?: unknown; function?: { arguments?: unknown } } | null)[]).flatMap(
    (call) =>
      typeof call?.id === 'string' && typeof call.function?.arguments === 'string'
        ? [[call.id, parseOutput(call.function.arguments)] as [string, unknown]]
        : [],
  );
}

/** A result that is JSON of a size and depth that answers may have is that value, any other one its text. Pure. */
export function parseOutput(text: string): unknown {
  if (text.length > LIMITS.answerBytes || isDeeperThan(LIMITS.jsonDepth, text)) return text;
  return tryParseJson(text, text);
}

/** A decision of the shape `{approved, reason?}`; undefined for anything else. Pure. */
export function readDecision(value: unknown): Decided | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { approved, reason } = value as { approved?: unknown; reason?: unknown };
  if (typeof approved !== 'boolean') return undefined;
  return { approved, ...(typeof reason === 'string' && { reason }) };
}

/**
 * Converts user messages of a client's copy. A refused message stays in the copy, where it must not keep
 * later ones back, so only a fault of the last one is thrown. Pure.
 *
 * @throws HelixError
 */
export function convertEach<Message>(
  messages: readonly Message[],
  convert: (message: Message, at: number) => PostedMessage,
): PostedMessage[] {
  return messages.flatMap((message, at) => {
    try {
      return convert(message, at);
    } catch (error) {
      if (at === messages.length - 1 || !HelixError.isInstance(error)) throw error;
      return [];
    }
  });
}

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/** Returns a file as a data URL. @throws HelixError for a type that could alter the URL. Pure. */
export function toDataUrl(mediaType: string, base64: string): string {
  if (MEDIA_TYPE.test(mediaType)) return `data:${mediaType};base64,${base64}`;
  throw new HelixError('validation_error', 'The type of a file is not a media type.');
}
