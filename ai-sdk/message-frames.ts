import type { SessionRecord } from '../stores/session-store.js';
import { FrameWriter } from './frame-writer.js';
import { SSE_DONE } from './sse.js';
import type { UIMessage, UIMessagePart, UIToolPart } from './ui-message.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** The SSE frames that build a stored message in a client; for turns whose chunks have expired. */
export async function* createMessageFrames(
  message: UIMessage,
  record: Pick<SessionRecord, 'stream' | 'sequence'>,
): AsyncGenerator<string, void, undefined> {
  const events: UIStreamPart[] = [{ type: 'start', messageId: message.id }];
  let isInStep = false;
  let texts = 0;
  for (const part of message.parts) {
    if (part.type === 'step-start' && isInStep) events.push({ type: 'finish-step' });
    isInStep ||= part.type === 'step-start';
    events.push(...toStreamParts(part, `t-${String(++texts)}`));
  }
  if (message.metadata !== undefined) {
    events.push({ type: 'message-metadata', messageMetadata: {} });
  }
  if (isInStep) events.push({ type: 'finish-step' });
  const writer = new FrameWriter();
  writer.add({ events, sequence: record.sequence });
  const finishReason = record.stream === 'paused' ? 'tool-calls' : 'stop';
  writer.add({ events: [{ type: 'finish', finishReason }] });
  yield await Promise.resolve(writer.take() + SSE_DONE);
}

function toStreamParts(part: UIMessagePart, textId: string): UIStreamPart[] {
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }];
    case 'text':
      return [
        { type: 'text-start', id: textId },
        { type: 'text-delta', id: textId, delta: part.text },
        { type: 'text-end', id: textId },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id: part.id },
        { type: 'reasoning-delta', id: part.id, delta: part.text },
        { type: 'reasoning-end', id: part.id },
      ];
    case 'file':
      return [{ type: 'file', url: part.url, mediaType: part.mediaType }];
    case 'dynamic-tool':
      return toCallParts(part);
  }
}

function toCallParts(part: UIToolPart): UIStreamPart[] {
  const { toolCallId, toolName, input, state } = part;
  const marks = part.providerExecuted === true ? ({ providerExecuted: true } as const) : {};
  const events: UIStreamPart[] = [
    { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, ...marks },
  ];
  if (state === 'approval-requested' && part.approval !== undefined) {
    events.push({ type: 'tool-approval-request', toolCallId, approvalId: part.approval.id });
  } else if (state === 'output-available') {
    const output = part.output ?? null;
    events.push({ type: 'tool-output-available', toolCallId, output, dynamic: true, ...marks });
  } else if (state === 'output-error') {
    const errorText = part.errorText ?? '';
    events.push({ type: 'tool-output-error', toolCallId, errorText, dynamic: true, ...marks });
  } else if (state === 'output-denied') {
    events.push({ type: 'tool-output-denied', toolCallId });
  }
  return events;
}
