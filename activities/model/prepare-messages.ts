import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Instructions as MutableInstructions, ModelMessage } from 'ai';
import { convertToLanguageModelPrompt } from 'ai/internal';
import type { AgentDefinition } from '../../agents/definitions.js';
import {
  toChanges,
  type PreparedStep,
  type PrepareStepOptions,
  type Instructions,
} from '../../agents/step-hooks.js';
import { resolveModel } from '../../agents/model.js';
import { orAborted } from '../attempt.js';
import { RequestFault } from './provider-failure.js';

type StepFacts = Pick<
  PrepareStepOptions,
  'step' | 'sessionId' | 'runId' | 'state' | 'steps' | 'compaction' | 'messageMetadata'
> & {
  /** The agent's instructions, for the state. */
  instructions: Instructions;
  /** Number of messages before the turn's reply. */
  initial: number;
};

/**
 * Applies the agent's `prepareStep` to the conversation; without one, the prompt stays unchanged.
 *
 * @throws RequestFault
 */
export async function prepareMessages(
  { prepareStep, llmConfig, middleware }: AgentDefinition,
  prompt: LanguageModelV4Prompt,
  { initial, ...scope }: StepFacts,
  signal: AbortSignal,
): Promise<{ messages: LanguageModelV4Prompt; changes: Omit<PreparedStep, 'messages'> }> {
  if (prepareStep === undefined) return { messages: prompt, changes: {} };
  try {
    // The prompt's messages are messages of the AI SDK, in their most explicit form.
    const messages = prompt as ModelMessage[];
    const { model } = llmConfig;
    const own = typeof model === 'function' ? model() : model;
    const options: PrepareStepOptions = {
      ...scope,
      messages,
      signal,
      stepNumber: scope.step - 1,
      // Requests of the agent's own code go through the same middleware.
      model: middleware === undefined ? own : resolveModel(own, middleware),
      initialInstructions: scope.instructions,
      initialMessages: messages.slice(0, initial),
      responseMessages: messages.slice(initial),
    };
    const returned = await orAborted(prepareStep(options), signal);
    const { messages: chosen, ...changes } = toChanges(returned);
    if (chosen === undefined) return { messages: prompt, changes };
    const kept = pairCalls(await toPromptMessages(chosen));
    if (kept.length === 0) throw new Error('no message is left');
    return { messages: kept, changes };
  } catch (error) {
    throw new RequestFault('context_hook_failed', { cause: error });
  }
}

/** Returns a prompt without its system messages, for the agent's own code. */
export function toModelMessages(prompt: LanguageModelV4Prompt): ModelMessage[] {
  // The prompt's messages are messages of the AI SDK, in their most explicit form.
  return prompt.filter(({ role }) => role !== 'system');
}

/** Converts messages to the most explicit form of the AI SDK. */
export function toPromptMessages(
  messages: ModelMessage[],
  instructions?: Instructions,
): Promise<LanguageModelV4Prompt> {
  return convertToLanguageModelPrompt({
    prompt: {
      instructions: instructions as MutableInstructions | undefined,
      messages: pairCalls(messages),
    },
    supportedUrls: {},
    // The provider gets a file's address unchanged; nothing is fetched here.
    download: (files) => Promise.resolve(files.map(() => null)),
  });
}

/**
 * Drops calls without a result, results without an earlier call, and empty messages. A
 * provider-executed call may get its result in a later reply of the turn.
 */
export function pairCalls<M extends ModelMessage | LanguageModelV4Message>(
  messages: readonly M[],
): M[] {
  const paired = findPairs(messages);
  const made = new Set<string>();
  return messages.flatMap((message) => {
    const { content } = message;
    if (typeof content === 'string') return [message];
    const parts = content.filter((part) => {
      if (part.type === 'tool-result') {
        // Only the first result of a call counts.
        return made.has(part.toolCallId) && paired.delete(part.toolCallId);
      }
      if (part.type !== 'tool-call') return true;
      const isFirst = !made.has(part.toolCallId);
      made.add(part.toolCallId);
      return isFirst && paired.has(part.toolCallId);
    });
    if (parts.length === 0) return [];
    return parts.length === content.length ? [message] : [{ ...message, content: parts }];
  });
}

/** Returns the ids of calls that have a result or may still get one. */
function findPairs(messages: readonly (ModelMessage | LanguageModelV4Message)[]): Set<string> {
  const made = new Set<string>();
  const paired = new Set<string>();
  const newestQuestion = messages.findLastIndex(({ role }) => role === 'user');
  for (const [at, { content }] of messages.entries()) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-call') made.add(part.toolCallId);
      const isOpen = part.type === 'tool-call' && part.providerExecuted === true;
      if (isOpen && at > newestQuestion) paired.add(part.toolCallId);
      if (part.type === 'tool-result' && made.has(part.toolCallId)) paired.add(part.toolCallId);
    }
  }
  return paired;
}
