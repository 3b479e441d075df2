import type { StreamMessage } from './chunk.js';
import { isDeeperThan } from './json-depth.js';
import { LIMITS } from './limits.js';
import type { AssistantPart } from './rows.js';

type TextPart = Extract<AssistantPart, { type: 'text' | 'reasoning' }>;
type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;

/** The reply of a step, built from its chunks: the parts of the row that will be stored. */
export interface ReplyFold {
  /** Parts in order of first appearance. */
  parts: AssistantPart[];
  /** Argument text of each call received so far. */
  argumentText: Map<string, string>;
  accept: (message: StreamMessage) => void;
  /** Closes the last block: more text of its kind begins a new part. */
  closeBlock: () => void;
}

/**
 * Folds the chunks of one step into the parts of its row, with the rules of a page that sees them
 * live: adjacent text is one block, which a call or text of the other kind closes.
 */
export function createReplyFold(): ReplyFold {
  const parts: AssistantPart[] = [];
  const argumentText = new Map<string, string>();
  const calls = new Map<string, ToolCallPart>();
  let open: TextPart | undefined;

  function extend(type: TextPart['type'], text: string): void {
    if (open?.type === type) {
      open.text += text;
      return;
    }
    const part: TextPart = { type, text };
    parts.push(part);
    open = part;
  }

  function upsertCall(toolCallId: string, toolName: string, input: unknown): void {
    const known = calls.get(toolCallId);
    if (known !== undefined) {
      known.input = input;
      return;
    }
    const call: ToolCallPart = { type: 'tool-call', toolCallId, toolName, input, kind: 'server' };
    calls.set(toolCallId, call);
    parts.push(call);
  }

  function markProviders(toolCallId: string): void {
    const call = calls.get(toolCallId);
    if (call !== undefined) call.kind = 'provider';
  }

  /** How a page names a part is settled with the first chunk of the call. */
  function markClients({
    toolCallId,
    byClient,
  }: {
    toolCallId: string;
    byClient?: boolean | undefined;
  }): void {
    const call = calls.get(toolCallId);
    if (call !== undefined && byClient === true) call.byClient = true;
  }

  function accept(message: StreamMessage): void {
    switch (message.type) {
      case 'text_delta':
        extend('text', message.delta);
        break;
      case 'thinking':
        if (message.content !== '' || open?.type === 'reasoning')
          extend('reasoning', message.content);
        if (message.isComplete) open = undefined;
        break;
      case 'tool_arg_stream_start':
        open = undefined;
        argumentText.set(message.toolCallId, '');
        upsertCall(message.toolCallId, message.toolName, {});
        markClients(message);
        break;
      case 'tool_arg_stream_delta':
        argumentText.set(
          message.toolCallId,
          (argumentText.get(message.toolCallId) ?? '') + message.delta,
        );
        break;
      case 'tool_start':
        open = undefined;
        upsertCall(message.toolCallId, message.toolName, message.arguments);
        if (message.byProvider === true) markProviders(message.toolCallId);
        markClients(message);
        break;
      case 'tool_end': {
        if (message.byProvider !== true) break;
        const { toolCallId, toolName, result, error } = message;
        const failed = error === undefined ? { output: result } : { output: error, isError: true };
        parts.push({ type: 'tool-result', toolCallId, toolName, ...failed });
        break;
      }
      case 'tool_approval_request':
        open = undefined;
        upsertCall(message.toolCallId, message.toolName, message.input);
        break;
      case 'tool_input_error':
        open = undefined;
        upsertCall(message.toolCallId, message.toolName, message.partialInput ?? {});
        break;
      // Shown beside the text, which continues.
      case 'source_url': {
        const { sourceId, url, title } = message;
        parts.push({ type: 'source-url', sourceId, url, title });
        break;
      }
      case 'source_document': {
        const { sourceId, mediaType, title, filename } = message;
        const named = filename === undefined ? {} : { filename };
        parts.push({ type: 'source-document', sourceId, mediaType, title, ...named });
        break;
      }
      case 'file':
        parts.push({ type: 'file', url: message.url, mediaType: message.mediaType });
        break;
      default:
        break;
    }
  }

  const closeBlock = (): void => {
    open = undefined;
  };

  return { parts, argumentText, accept, closeBlock };
}

/**
 * The input in an argument text, if it is valid JSON that can be stored; otherwise an empty object.
 */
export function toPartialInput(argumentText: string | undefined): unknown {
  if (argumentText === undefined || argumentText.trim() === '') return {};
  if (isDeeperThan(LIMITS.jsonDepth, argumentText)) return {};
  try {
    return JSON.parse(argumentText) as unknown;
  } catch {
    // Cut off in the middle, so not usable as an input.
    return {};
  }
}

/** True for a call that the provider has carried out within the same reply. */
export function isCarriedOut(parts: readonly AssistantPart[], call: AssistantPart): boolean {
  if (call.type !== 'tool-call' || call.kind !== 'provider') return false;
  const { toolCallId } = call;
  return parts.some((part) => part.type === 'tool-result' && part.toolCallId === toolCallId);
}
