import { isDeepStrictEqual } from 'node:util';
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider';
import { startOf } from '../../protocol/limits.js';
import type { Eased, Row } from '../../protocol/rows.js';
import type { ModelCall, StepMiddleware } from './middleware.js';
import { internal } from './acceptable-prompt.js';
import { pairCalls } from './prepare-messages.js';
import { isOfPrompt, toProviderFailure } from './provider-failure.js';

/** Shortened requests per step, and the least number of characters worth asking with. */
const MAX = 4;
const MIN = 4_000;

/** Returns the limits of the model's prompts that its last refusal set. Pure. */
export function easedOf(rows: readonly Row[], modelId: string): Eased | undefined {
  const row = rows.findLast((each) => each.role === 'assistant' && each.eased?.modelId === modelId);
  return row?.role === 'assistant' ? row.eased : undefined;
}

/** Retries with a shorter or plainer prompt while the provider refuses its length or form. */
export const easing: StepMiddleware =
  ({ attempt, warn }) =>
  async (request, next) => {
    const { reply, isLast } = request;
    for (let times = 1; ; times += 1) {
      try {
        return await next(request);
      } catch (error) {
        // The next model in the list may take the prompt that this one refuses.
        const mayAsk = times <= MAX && isLast && !reply.begun() && !attempt.signal.aborted;
        const less =
          mayAsk && request.call && withLess(request.call, toProviderFailure(error).code);
        if (!less) throw error;
        request.call = less;
        warn('the model is asked for less', error, { eased: less.eased });
      }
    }
  };

/** Returns undefined if no reduction would help. */
function withLess(call: ModelCall, code: string): ModelCall | undefined {
  const { prompt } = call.options;
  const { modelId } = call.model;
  if (code === 'prompt_too_long') {
    const chars = Math.floor(charsOf(prompt) / 2);
    return chars < MIN ? undefined : call.withEased({ ...call.eased, modelId, chars });
  }
  if (!isOfPrompt(code) || code === 'prompt_file_refused') return undefined;
  const bare = call.withEased({ ...call.eased, modelId, bare: true });
  return isDeepStrictEqual(bare.options.prompt, prompt) ? undefined : bare;
}

/**
 * Shortens a prompt to at most `chars` characters: cuts the longest texts and results in the
 * middle, then drops the oldest messages. The newest question stays. Pure.
 */
export function shorten(prompt: LanguageModelV4Prompt, chars: number): LanguageModelV4Prompt {
  let cut = prompt;
  for (const share of [2, 4, 8]) {
    if (charsOf(cut) <= chars) return cut;
    cut = prompt.map((message) => mapTexts(message, (text) => cutMiddle(text, chars / share)));
  }
  const begins = Math.max(
    0,
    cut.findIndex(({ role }) => role !== 'system'),
  );
  const system = cut.slice(0, begins);
  let room = chars - charsOf(system);
  let from = cut.length;
  for (let at = cut.length - 1; at >= begins; at -= 1) {
    room -= charsOf(cut.slice(at, at + 1));
    if (room < 0 && from < cut.length) break;
    // A result stays behind its call.
    if (cut[at]?.role !== 'tool') from = at;
  }
  if (from <= begins) return cut;
  const question = cut.findLastIndex(({ role }) => role === 'user');
  const asked = question >= 0 && question < from ? cut.slice(question, question + 1) : [];
  return pairCalls([...system, LEFT_OUT, ...asked, ...cut.slice(from)]);
}

/** Counts characters of the texts that a model reads; files count elsewhere. Pure. */
export function charsOf(prompt: LanguageModelV4Prompt): number {
  let chars = 0;
  for (const message of prompt) {
    mapTexts(message, (text) => {
      chars += text.length;
      return text;
    });
    if (message.role !== 'assistant') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call') chars += JSON.stringify(part.input ?? null).length;
    }
  }
  return chars;
}

function mapTexts<M extends LanguageModelV4Message>(message: M, map: (text: string) => string): M;
function mapTexts(
  message: LanguageModelV4Message,
  map: (text: string) => string,
): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      map(message.content);
      return message;
    case 'user':
    case 'assistant': {
      const content = message.content.map((part) => {
        if (part.type === 'reasoning') map(part.text);
        return part.type === 'text' ? { ...part, text: map(part.text) } : part;
      });
      return { ...message, content } as LanguageModelV4Message;
    }
    case 'tool': {
      const content = message.content.map((part) =>
        part.type === 'tool-result' ? { ...part, output: mapOutput(part.output, map) } : part,
      );
      return { ...message, content };
    }
  }
}

function mapOutput(
  output: LanguageModelV4ToolResultOutput,
  map: (text: string) => string,
): LanguageModelV4ToolResultOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: map(output.value) };
    case 'json':
    case 'error-json': {
      const json = JSON.stringify(output.value);
      const kept = map(json);
      if (kept === json) return output;
      return { type: output.type === 'json' ? 'text' : 'error-text', value: kept };
    }
    case 'content': {
      const value = output.value.map((part) =>
        part.type === 'text' ? { ...part, text: map(part.text) } : part,
      );
      return { ...output, value };
    }
    default:
      return output;
  }
}

function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - MIDDLE.length) / 2);
  return `${startOf(text, half)}${MIDDLE}${text.slice(-half)}`.toWellFormed();
}

const MIDDLE = '\n[… what stood here is left out: it is too long for you …]\n';

const LEFT_OUT = internal('[Earlier messages are left out: they are too long for you.]');
