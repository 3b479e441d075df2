import { isDeepStrictEqual } from 'node:util';
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Eased, Row } from '../../protocol/rows.js';
import type { ModelCall, StepMiddleware } from './middleware.js';
import { pairCalls } from './prepare-messages.js';
import { isOfPrompt, toProviderFailure } from './provider-failure.js';
import { startOf } from './call-ids.js';

/** How often a step asks again with less, and the least that is worth it, in characters. */
const MOST = 4;
const LEAST = 4_000;

/** How the model's prompts are kept since it has refused more. Pure. */
export function easedOf(rows: readonly Row[], modelId: string): Eased | undefined {
  const row = rows.findLast((each) => each.role === 'assistant' && each.eased?.modelId === modelId);
  return row?.role === 'assistant' ? row.eased : undefined;
}

/** Asks, and asks again with less while the model's provider refuses the prompt for its length or its form. */
export const easing: StepMiddleware =
  ({ attempt, warn }) =>
  async (request, next) => {
    const { call, reply, isLast, listeners } = request;
    if (call !== undefined) for (const listener of listeners) listener.asked?.(call);
    for (let times = 1; ; times += 1) {
      try {
        return await next(request);
      } catch (error) {
        // The next model of the list may take what this one refuses.
        const mayAsk = times <= MOST && isLast && !reply.begun() && !attempt.signal.aborted;
        const less =
          mayAsk && request.call && withLess(request.call, toProviderFailure(error).code);
        if (!less) throw error;
        request.call = less;
        warn('the model is asked for less', error, { eased: less.eased });
      }
    }
  };

/** Undefined if nothing that could be left out would help. */
function withLess(call: ModelCall, code: string): ModelCall | undefined {
  const { prompt } = call.options;
  const { modelId } = call.model;
  if (code === 'prompt_too_long') {
    const chars = Math.floor(charsOf(prompt) / 2);
    return chars < LEAST ? undefined : call.withEased({ ...call.eased, modelId, chars });
  }
  if (!isOfPrompt(code) || code === 'prompt_file_refused') return undefined;
  const bare = call.withEased({ ...call.eased, modelId, bare: true });
  return isDeepStrictEqual(bare.options.prompt, prompt) ? undefined : bare;
}

/**
 * The prompt in at most so many characters: the longest texts and results are cut in their middle, then
 * the oldest messages are left out. The newest question stays. Pure.
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
    const message = cut[at];
    if (message === undefined) break;
    room -= charsOf([message]);
    if (room < 0 && from < cut.length) break;
    // A result stays behind its call.
    if (message.role !== 'tool') from = at;
  }
  if (from <= begins) return cut;
  const question = cut.findLastIndex(({ role }) => role === 'user');
  const asked = question >= 0 && question < from ? cut.slice(question, question + 1) : [];
  return pairCalls([...system, LEFT_OUT, ...asked, ...cut.slice(from)]);
}

/** Of the texts that a model reads; files count elsewhere. Pure. */
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

type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];
type Output = Extract<ToolPart, { type: 'tool-result' }>['output'];

function mapOutput(output: Output, map: (text: string) => string): Output {
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

function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - MIDDLE.length) / 2);
  return `${startOf(text, half)}${MIDDLE}${text.slice(-half)}`.toWellFormed();
}

const MIDDLE = '\n[… what stood here is left out: it is too long for you …]\n';

/** Marked, since the user did not write it. */
const LEFT_OUT: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: '[Earlier messages are left out: they are too long for you.]' }],
  providerOptions: { helix: { internal: true } },
};
