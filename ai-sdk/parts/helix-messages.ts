import type { HelixMessage, Message, Row } from '../../protocol/rows.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { convertToUIMessages, type ConvertOptions } from './convert-messages.js';
import type { UIMessage, UIMessagePart, UIToolPart } from './ui-message.js';

type HelixConvertOptions = Omit<ConvertOptions, 'generateId'> & {
  /** Returns an id to use instead of the stored one. Default for Helix messages: `msg-<index>`. */
  generateId?: ((index: number, message: never) => string) | undefined;
};

/** Converts transcript rows, or messages of the Helix packages, into UI messages. */
export function convertToAISDKMessages(
  messages: readonly Message[],
  options: HelixConvertOptions = {},
): UIMessage[] {
  return areRows(messages)
    ? convertToUIMessages(messages, options as ConvertOptions)
    : convertHelixMessages(messages as readonly HelixMessage[], options);
}

function areRows(messages: readonly Message[]): messages is readonly Row[] {
  return messages.every((message) => !('content' in message || 'toolCalls' in message));
}

function convertHelixMessages(
  messages: readonly HelixMessage[],
  { generateId, ...options }: HelixConvertOptions,
): UIMessage[] {
  const results = new Map<string, UIToolPart>();
  if (options.mergeToolResults ?? options.includeToolResults ?? true) {
    for (const message of messages) {
      if (message.role === 'tool') results.set(message.toolCallId, toResult(message));
    }
  }
  const converted: UIMessage[] = [];
  for (const message of messages) {
    if (message.role === 'tool') continue;
    const { role } = message;
    if (role === 'user' && message.metadata?.['hidden'] === true && options.filterHidden !== false)
      continue;
    const index = converted.length;
    const id = generateId?.(index, message as never) ?? `msg-${String(index)}`;
    const parts = role === 'assistant' ? toReplyParts(message, results, options) : toTold(message);
    const metadata = role === 'user' ? message.metadata : undefined;
    converted.push({ id, role, parts, metadata });
  }
  return converted;
}

function toTold(message: Extract<HelixMessage, { role: 'system' | 'user' }>): UIMessagePart[] {
  const files = message.role === 'user' ? (message.files ?? []) : [];
  return [
    { type: 'text', text: message.content },
    ...files.map((file) => ({ type: 'file' as const, ...file })),
  ];
}

function toReplyParts(
  { content = '', thinking = '', toolCalls = [] }: Extract<HelixMessage, { role: 'assistant' }>,
  results: ReadonlyMap<string, UIToolPart>,
  { includeReasoning = true }: HelixConvertOptions,
): UIMessagePart[] {
  const parts: UIMessagePart[] = [];
  if (thinking !== '' && includeReasoning) {
    parts.push({ type: 'reasoning', id: 'r1', text: thinking, state: 'done' });
  }
  if (content !== '') parts.push({ type: 'text', text: content });
  for (const { id: toolCallId, name: toolName, arguments: input } of toolCalls) {
    if (toolName === FINISH_TOOL_NAME) continue;
    const result = results.get(toolCallId) ?? { state: 'input-available' };
    parts.push({ ...result, type: 'dynamic-tool', toolName, toolCallId, input });
  }
  return parts;
}

function toResult({ content, error }: Extract<HelixMessage, { role: 'tool' }>): UIToolPart {
  const state =
    error === undefined
      ? { state: 'output-available', output: parseResult(content) }
      : { state: 'output-error', errorText: error };
  return state as UIToolPart;
}

function parseResult(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
