import type { FinishReason } from '../../protocol/chunk.js';
import {
  isToolPart,
  toolNameOf,
  type OfProvider,
  type UIMessage,
  type UIMessagePart,
  type UIToolPart,
} from './ui-message.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

/** Returns the events that build a stored message, each step closed, without start and finish. */
export function toMessageEvents(message: UIMessage, profile: StreamProfile): UIStreamPart[] {
  const events: UIStreamPart[] = [];
  const questions = message.parts.filter(isQuestion);
  const reader = {
    profile,
    isAsked: questions.length > 0,
    // The calls of pages are static.
    holdsDenials: profile === 'v7' || questions.some(({ type }) => type !== 'dynamic-tool'),
  };
  let isInStep = false;
  for (const [index, part] of message.parts.entries()) {
    if (part.type === 'step-start' && isInStep) events.push({ type: 'finish-step' });
    isInStep ||= part.type === 'step-start';
    events.push(...toPartEvents(part, `t-${String(index)}`, reader));
  }
  if (message.metadata !== undefined) {
    events.push({ type: 'message-metadata', messageMetadata: message.metadata });
  }
  if (isInStep) events.push({ type: 'finish-step' });
  return events;
}

function isQuestion(part: UIMessagePart): part is UIToolPart {
  if (!isToolPart(part) || part.providerExecuted === true) return false;
  return part.state === 'approval-requested' || part.state === 'input-available';
}

interface Reader {
  profile: StreamProfile;
  /** True while a question of the message is open. */
  isAsked: boolean;
  /** True if denials beside such a question are held back, as in the stream. */
  holdsDenials: boolean;
}

const OPEN_STATES = new Set<unknown>(['input-streaming', 'input-available', 'approval-requested']);

/**
 * Returns a reply without new content, because answers were stored or no call waits for them.
 *
 * @param shown the newest step of the client's copy
 */
export function toNoticeEvents(
  messageId: string,
  shown: readonly { type: string; state?: unknown }[],
  finishReason: FinishReason,
  told: readonly UIStreamPart[] = [],
): UIStreamPart[] {
  // A step would hide an open call from the client, which would then never send its answer. If no
  // call is open, only a step keeps the client from posting again at once.
  const guard: UIStreamPart[] = shown.some(({ state }) => OPEN_STATES.has(state))
    ? [{ type: 'message-metadata', messageMetadata: null }]
    : [
        { type: 'start-step' },
        { type: 'message-metadata', messageMetadata: {} },
        { type: 'finish-step' },
      ];
  return [{ type: 'start', messageId }, ...told, ...guard, { type: 'finish', finishReason }];
}

function toPartEvents(part: UIMessagePart, textId: string, reader: Reader): UIStreamPart[] {
  if (isToolPart(part)) return toCallEvents(part, reader);
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }];
    case 'text':
      return [
        { type: 'text-start', id: textId, ...metadataOf(part) },
        { type: 'text-delta', id: textId, delta: part.text },
        { type: 'text-end', id: textId },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id: part.id, ...metadataOf(part) },
        { type: 'reasoning-delta', id: part.id, delta: part.text },
        { type: 'reasoning-end', id: part.id },
      ];
    case 'file':
      return [{ type: 'file', url: part.url, mediaType: part.mediaType, ...metadataOf(part) }];
    default:
      return [part];
  }
}

function metadataOf({ providerMetadata }: OfProvider): OfProvider {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

function toCallEvents(part: UIToolPart, reader: Reader): UIStreamPart[] {
  const { toolCallId, input, approval } = part;
  const toolName = toolNameOf(part);
  const marks = {
    ...(part.type === 'dynamic-tool' && { dynamic: true as const }),
    ...(part.providerExecuted === true && { providerExecuted: true as const }),
  };
  const told = metadataOf({ providerMetadata: part.callProviderMetadata });
  const events: UIStreamPart[] = [
    { type: 'tool-input-available', toolCallId, toolName, input, ...marks, ...told },
    ...toApprovalEvents(part, reader),
  ];
  if (part.state === 'output-available') {
    const { output } = part;
    events.push({ type: 'tool-output-available', toolCallId, output, ...marks });
  } else if (part.state === 'output-error') {
    const { errorText } = part;
    events.push({ type: 'tool-output-error', toolCallId, errorText, ...marks });
  } else if (
    part.state === 'output-denied' ||
    (approval?.approved === false && !reader.holdsDenials)
  ) {
    events.push({ type: 'tool-output-denied', toolCallId });
  }
  return events;
}

/**
 * For clients that do not know the part with the answer, leaves out answered requests, except beside open questions:
 * there a stock client sends no answers while a call has neither request nor result.
 */
function toApprovalEvents(
  { toolCallId, state, approval }: UIToolPart,
  { profile, isAsked }: Reader,
): UIStreamPart[] {
  if (approval === undefined) return [];
  const { id: approvalId, approved, reason } = approval;
  const request: UIStreamPart = { type: 'tool-approval-request', toolCallId, approvalId };
  if (approved === undefined) return [request];
  if (profile !== 'v7') return isAsked && state === 'approval-responded' ? [request] : [];
  return [request, { type: 'tool-approval-response', approvalId, approved, reason }];
}
