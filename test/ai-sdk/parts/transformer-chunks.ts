import type { StreamTransformer, UIStreamPart } from '../../../ai-sdk/index.js';
import type { StreamMessage } from '../../../protocol/chunk.js';
import type { Bare } from '../../support/fake-call.js';

/** Chunks of step 1 of session `s1`. */
export function chunks(...bare: Bare[]): StreamMessage[] {
  return bare.map((chunk) => at(1, chunk));
}

export function at(step: number, chunk: Bare, agentId = 's1'): StreamMessage {
  return { ...chunk, agentId, agentType: 'lab', timestamp: 1, step };
}

export function run(transformer: StreamTransformer, messages: StreamMessage[]): UIStreamPart[] {
  return messages.flatMap((message) => transformer.transform(message).events);
}

export const text = (delta: string): Bare => ({ type: 'text_delta', delta });
export const call = { toolCallId: 'c1', toolName: 'echo' };
export const approval = { ...call, approvalId: 'r::c1' };
export const end: Extract<StreamMessage, { type: 'stream_end' }> = {
  type: 'stream_end',
  streamId: 's1',
  timestamp: 1,
};
