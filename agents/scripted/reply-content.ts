import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

/**
 * Reads a model's stream to its end, for callers that want the reply in one piece.
 *
 * @throws the error that the stream carries
 */
export async function readReply(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'finish') end = part;
    if (part.type === 'tool-call') content.push(part);
    if (part.type === 'text-start') content.push({ type: 'text', text: '' });
    if (part.type === 'reasoning-start') content.push({ type: 'reasoning', text: '' });
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const open = content.at(-1);
      if (open?.type === 'text' || open?.type === 'reasoning') open.text += part.delta;
    }
  }
  if (end === undefined) throw new Error('The stream of a reply ended without a finish part.');
  return { content, finishReason: end.finishReason, usage: end.usage, warnings: [] };
}
