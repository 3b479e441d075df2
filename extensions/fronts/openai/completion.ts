import type { UIStreamPart } from '../../../ai-sdk/index.js';
import type { PendingQuestion } from '../../../protocol/replies.js';
import type { RunUsage } from '../../../store/contract/runs.js';
import { ReplyEnding, type ReplyEnd } from '../replies.js';
import { formatCallId } from './conversation.js';
import type {
  Completion,
  CompletionCall,
  CompletionChunk,
  CompletionDelta,
  CompletionFinish,
  CompletionUsage,
} from './protocol.js';

export interface CompletionHead {
  id: string;
  created: number;
  model: string;
}

export interface CompletionEnd {
  calls: CompletionCall[];
  finish: CompletionFinish;
  usage: CompletionUsage;
}

/**
 * Turns the parts of one reply into deltas of a completion: the agent's text and reasoning. The agent's
 * own tools are hidden, because a program would take their calls for calls of its own tools.
 */
export class CompletionParts {
  readonly #ending = new ReplyEnding();
  /** True after the first text block; further blocks become paragraphs. */
  #hasText = false;
  #isApart = false;

  get end(): ReplyEnd | undefined {
    return this.#ending.end;
  }

  accept(part: UIStreamPart): CompletionDelta | undefined {
    this.#ending.accept(part);
    switch (part.type) {
      case 'text-start':
        this.#isApart = this.#hasText;
        return undefined;
      case 'text-delta':
        return this.#say(part.delta);
      case 'reasoning-delta':
        return part.delta === '' ? undefined : { reasoning_content: part.delta };
      case 'data-output':
        this.#isApart = this.#hasText;
        return this.#say(JSON.stringify('data' in part ? part.data : null));
      default:
        return undefined;
    }
  }

  #say(text: string): CompletionDelta | undefined {
    if (text === '') return undefined;
    const content = this.#isApart ? `\n\n${text}` : text;
    this.#isApart = false;
    this.#hasText = true;
    return { content };
  }
}

export function toCompletionEnd(
  sessionId: string,
  { reason }: Extract<ReplyEnd, { kind: 'finished' }>,
  { pending, usage }: { pending: readonly PendingQuestion[]; usage: RunUsage },
): CompletionEnd {
  const calls = reason === 'tool-calls' ? pending.map((each) => toCall(sessionId, each)) : [];
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  return {
    calls,
    finish: toFinish(reason, calls.length > 0),
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    },
  };
}

/** A reply that waits for other people only ends with `stop`, since the program has nothing to answer. */
function toFinish(reason: string, hasCalls: boolean): CompletionFinish {
  if (hasCalls) return 'tool_calls';
  if (reason === 'length') return 'length';
  return reason === 'content-filter' ? 'content_filter' : 'stop';
}

function toCall(sessionId: string, question: PendingQuestion): CompletionCall {
  const { toolCallId, toolName, kind, input } = question;
  return {
    id: formatCallId(sessionId, toolCallId),
    type: 'function',
    function: { name: toolName, arguments: JSON.stringify(input ?? {}) },
    ...(kind === 'approval' && { approval: true as const }),
  };
}

export function toCompletion(
  head: CompletionHead,
  deltas: readonly CompletionDelta[],
  { calls, finish, usage }: CompletionEnd,
): Completion {
  const content = deltas.map((delta) => delta.content ?? '').join('');
  const reasoning = deltas.map((delta) => delta.reasoning_content ?? '').join('');
  const message = {
    role: 'assistant' as const,
    content: content === '' ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choice = { index: 0 as const, message, logprobs: null, finish_reason: finish };
  return { ...head, object: 'chat.completion', choices: [choice], usage };
}

/** Builds one event of a streamed completion. If requested, `usage` is null in all events but the last. */
export function toCompletionChunk(
  head: CompletionHead,
  delta: CompletionDelta,
  { finish = null, hasUsage }: { finish?: CompletionFinish | null; hasUsage: boolean },
): CompletionChunk {
  const choices = [{ index: 0 as const, delta, finish_reason: finish }];
  return { ...head, object: 'chat.completion.chunk', choices, ...(hasUsage && { usage: null }) };
}
