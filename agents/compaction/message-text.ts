/* oxlint-disable typescript/no-deprecated -- Messages that exist have these forms. */
import type { ModelMessage } from 'ai';

/** Tokens of an image or another file, of which only the provider knows more. */
const FILE_TOKENS = 1_600;
/** A usual estimate. In UTF-8, so that languages with more tokens per character count for more. */
const BYTES_PER_TOKEN = 4;
/** Role and separators of a message. */
const MESSAGE_TOKENS = 4;

export type MessagePart = Exclude<ModelMessage['content'], string>[number];

/** The parts of a message, also of one that is a text. Pure. */
export function partsOf({ content }: ModelMessage): readonly MessagePart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Tokens of messages, estimated: no provider's own count is known before the call. Pure. */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  let tokens = 0;
  for (const message of messages) {
    tokens += MESSAGE_TOKENS;
    for (const part of partsOf(message)) {
      tokens += Buffer.byteLength(textOf(part)) / BYTES_PER_TOKEN + filesIn(part) * FILE_TOKENS;
    }
  }
  return Math.ceil(tokens);
}

/** What a part says, as text; files are named only. Pure. */
export function textOf(part: MessagePart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool-call':
      return `${part.toolName}(${toJson(part.input)})`;
    case 'tool-result':
      return outputText(part.output);
    case 'file':
      return `[file ${part.filename ?? part.mediaType}]`;
    default:
      return `[${part.type}]`;
  }
}

type Output = Extract<MessagePart, { type: 'tool-result' }>['output'];

function outputText(output: Output): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return `denied${output.reason === undefined ? '' : `: ${output.reason}`}`;
    case 'content':
      return output.value.map((each) => (each.type === 'text' ? each.text : '[file]')).join('\n');
    default:
      return toJson(output.value);
  }
}

function toJson(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

function filesIn(part: MessagePart): number {
  if (part.type === 'file') return 1;
  if (part.type !== 'tool-result' || part.output.type !== 'content') return 0;
  return part.output.value.filter((each) => each.type !== 'text').length;
}
