import type { UIStreamPart } from '../../../ai-sdk/index.js';
import type { CompletionDelta } from './protocol.js';

/** Outcome of a reply. */
export type ReplyEnd =
  | { kind: 'finished'; reason: Extract<UIStreamPart, { type: 'finish' }>['finishReason'] }
  | { kind: 'failed'; message: string; code: string };

/**
 * Turns the parts of one reply into deltas of a completion: the agent's text and reasoning. The agent's
 * own tools are hidden, because a program would take their calls for calls of its own tools.
 */
export class CompletionParts {
  #end: ReplyEnd | undefined;
  /** True after the first text block; further blocks become paragraphs. */
  #hasText = false;
  #isApart = false;
  /** Code of the newest failure; its message follows in an `error` part. */
  #code = 'internal_error';

  get end(): ReplyEnd | undefined {
    return this.#end;
  }

  accept(part: UIStreamPart): CompletionDelta | undefined {
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
      case 'data-error':
        if ('data' in part) this.#code = readCode(part.data) ?? this.#code;
        return undefined;
      case 'error':
        this.#end = { kind: 'failed', message: part.errorText, code: this.#code };
        return undefined;
      case 'finish':
        this.#end ??= { kind: 'finished', reason: part.finishReason };
        return undefined;
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

function readCode(failure: unknown): string | undefined {
  const { code } = failure as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
