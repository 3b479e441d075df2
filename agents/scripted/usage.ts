import type { LanguageModelV4Prompt, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Reply } from './reply.js';

/** The usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

/** Token counts such as a provider might report. */
export function toUsage(
  prompt: LanguageModelV4Prompt,
  { think = '', calls }: Reply,
  said: number,
): LanguageModelV4Usage {
  const input = toTokens(countCharacters(prompt));
  const reasoning = toTokens(think.length);
  const text = toTokens(calls.reduce((sum, call) => sum + call.input.length, said));
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
  };
}

function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Characters in all strings of a value; walks it, as turning a long prompt into JSON is slow. */
function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += countCharacters(part);
  return sum;
}
