import { toAnswerError } from '../../../protocol/answers.js';
import { HelixError } from '../../../protocol/errors.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { parseApprovalId } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { AgUiInput, AgUiMessage } from './protocol.js';
import {
  convertEach,
  readDecision,
  readShownInputs,
  toDataUrl,
  type Answers,
  type Decided,
} from '../posted-answers.js';

/** The part of a client's copy that is new. For the rest the server trusts only its own record. */
export interface Added extends Answers {
  /** The user messages after the last reply. */
  newest: PostedMessage[];
  /** Fault in the answers to some interrupts. */
  fault?: HelixError;
}

/** Roles of an agent's messages; a reply that broke off may end with reasoning. */
const REPLY = new Set(['assistant', 'reasoning']);

/**
 * Reads the end of an input. Pure.
 *
 * @throws HelixError `validation_error` for an id that is too long, and for content that is neither text nor a file
 */
export function readInput({ messages, resume }: AgUiInput): Added {
  const start = messages.findLastIndex(({ role }) => REPLY.has(role)) + 1;
  const added = messages.slice(start);
  const results = new Map<string, { text: string } | { error: string }>();
  for (const message of added) {
    const { role, toolCallId, error } = message;
    if (role !== 'tool' || toolCallId === undefined) continue;
    results.set(toolCallId, error === undefined ? { text: toText(message) } : { error });
  }
  const decisions = new Map<string, Decided>();
  const contrary = new Set<string>();
  let fault: HelixError | undefined;
  for (const { interruptId, status, payload } of resume ?? []) {
    const call = parseApprovalId(interruptId);
    const decision = status === 'cancelled' ? { approved: false } : readDecision(payload);
    if (decision === undefined || call === undefined) {
      fault ??= toAnswerError('kind_mismatch');
      continue;
    }
    const { toolCallId } = call;
    const other = decisions.get(toolCallId)?.approved;
    if (other !== undefined && other !== decision.approved) contrary.add(toolCallId);
    decisions.set(toolCallId, { ...decision, approvalId: interruptId });
  }
  for (const toolCallId of contrary) {
    decisions.delete(toolCallId);
    fault ??= new HelixError('kind_mismatch', 'An interrupt is both approved and denied.');
  }
  const newest = added.filter(({ role }) => role === 'user');
  const reply = messages.findLast(({ role }) => role === 'assistant');
  const inputs = new Map(readShownInputs(reply?.toolCalls));
  const posted = convertEach(newest, toPosted);
  return { results, decisions, inputs, newest: posted, ...(fault && { fault }) };
}

function toText({ content }: AgUiMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? null);
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

function toPosted({ id, content }: AgUiMessage): PostedMessage {
  if (id.length > LIMITS.idChars) {
    throw new HelixError('validation_error', 'The id of a message is too long.');
  }
  if (Array.isArray(content)) return { id, role: 'user', parts: content.map(toPart) };
  return { id, role: 'user', content: typeof content === 'string' ? content : '' };
}

type Part = NonNullable<PostedMessage['parts']>[number];

const MEDIA = new Set(['image', 'audio', 'video', 'document', 'file']);

function toPart(part: Part): Part {
  if (part.type === 'text') return part;
  const { source } = part;
  if (MEDIA.has(part.type) && typeof source === 'object' && source !== null) {
    const { type, value, mimeType } = source as Record<string, unknown>;
    const mediaType = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
    if (typeof value === 'string') {
      const url = type === 'data' ? toDataUrl(mediaType, value) : value;
      return { type: 'file', url, mediaType };
    }
  }
  throw new HelixError('validation_error', `Content of type "${part.type}" is not taken.`);
}
