import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import { wallClock } from '../clock.js';

export const TALKATIVE = 'talkative';
/** One step adds about 200 tokens to the transcript. */
export const DELTAS = 8;
const DELTA_CHARACTERS = 50;
const RESULT = 'and so on '.repeat(20);

/** Called at each model call with its step and its prompt. */
export type OnAsked = (step: number, prompt: unknown) => void;

/**
 * Creates an agent that talks and calls a tool in each step. Each word has a number and the wall clock, so
 * readers detect lost, doubled and late words. The model costs almost nothing, like a provider on another
 * machine.
 */
export function createTalkativeAgent(
  steps: number,
  onAsked: OnAsked = () => undefined,
): AgentDefinition {
  return defineAgent({
    name: TALKATIVE,
    systemPrompt: 'Talk.',
    tools: [
      defineTool({
        name: 'look',
        description: 'Looks something up.',
        inputSchema: z.object({ for: z.string() }),
        execute: () => RESULT,
        idempotent: true,
      }),
    ],
    llmConfig: { model: createTalkativeModel(steps, onAsked) },
    maxSteps: Infinity,
  });
}

function createTalkativeModel(steps: number, onAsked: OnAsked): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'talkative',
    supportedUrls: {},
    doStream: ({ prompt, providerOptions }) => {
      const step = Number(providerOptions?.['helix']?.['step']);
      onAsked(step, prompt);
      return Promise.resolve({ stream: toStream(speak(step, step === steps)) });
    },
    doGenerate: () => Promise.reject(new Error('it only streams')),
  };
}

/** Makes each part on demand, as its words carry the time. */
function toStream<T>(parts: Iterator<T, undefined>): ReadableStream<T> {
  return new ReadableStream<T>({
    pull: (controller) => {
      const { done, value } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

function* speak(step: number, isLast: boolean): Generator<LanguageModelV4StreamPart, undefined> {
  const id = 't1';
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id };
  for (let at = 0; at < DELTAS; at += 1) {
    const word = `${String((step - 1) * DELTAS + at + 1)}:${wallClock().toFixed(3)}:`;
    yield { type: 'text-delta', id, delta: `${word.padEnd(DELTA_CHARACTERS - 1, 'x')} ` };
  }
  yield { type: 'text-end', id };
  const input = JSON.stringify({ for: `thing ${String(step)}` });
  if (!isLast) {
    yield { type: 'tool-call', toolCallId: `l${String(step)}`, toolName: 'look', input };
  }
  yield {
    type: 'finish',
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    finishReason: isLast
      ? { unified: 'stop', raw: 'stop' }
      : { unified: 'tool-calls', raw: 'tool_calls' },
  };
}
