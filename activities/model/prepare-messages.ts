import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { convertToLanguageModelPrompt } from 'ai/internal';
import type { AgentDefinition, PrepareStepOptions } from '../../agents/definitions.js';
import { orAborted } from '../or-aborted.js';

/** The agent's own code threw, did not come back, or left nothing to say. */
export class ContextHookError extends Error {
  override readonly name = 'ContextHookError';
}

type Scope = Omit<PrepareStepOptions, 'messages'>;

/**
 * The conversation as the agent's `prepareStep` leaves it; all of it for agents without.
 *
 * @throws ContextHookError
 */
export async function prepareMessages(
  { prepareStep }: AgentDefinition,
  prompt: LanguageModelV4Prompt,
  scope: Scope,
  signal: AbortSignal,
): Promise<LanguageModelV4Prompt> {
  if (prepareStep === undefined) return prompt;
  try {
    // The prompt's messages are messages of the AI SDK, in their most explicit form.
    const messages = prompt as ModelMessage[];
    const prepared = await orAborted(prepareStep({ ...scope, messages }), signal);
    if (prepared?.messages === undefined) return prompt;
    const kept = pairCalls(await toPromptMessages(prepared.messages));
    if (kept.length === 0) throw new Error('no message is left');
    return kept;
  } catch (error) {
    throw new ContextHookError('prepareStep failed', { cause: error });
  }
}

function toPromptMessages(messages: ModelMessage[]): Promise<LanguageModelV4Prompt> {
  return convertToLanguageModelPrompt({
    prompt: { instructions: undefined, messages: pairCalls(messages) },
    supportedUrls: {},
    // Nothing is fetched: a file's address goes to the provider as it is.
    download: (files) => Promise.resolve(files.map(() => null)),
  });
}

/** Leaves out calls without a result, results without a call before them, and empty messages. */
export function pairCalls<M extends ModelMessage | LanguageModelV4Message>(
  messages: readonly M[],
): M[] {
  const paired = findPairs(messages);
  const made = new Set<string>();
  return messages.flatMap((message) => {
    const { content } = message;
    if (typeof content === 'string') return [message];
    const parts = content.filter((part) => {
      if (part.type === 'tool-call') {
        if (!paired.has(part.toolCallId) || made.has(part.toolCallId)) return false;
        made.add(part.toolCallId);
        return true;
      }
      // The first result of a call is its result.
      return (
        part.type !== 'tool-result' || (made.has(part.toolCallId) && paired.delete(part.toolCallId))
      );
    });
    if (parts.length === 0) return [];
    return parts.length === content.length ? [message] : [{ ...message, content: parts }];
  });
}

/** Ids of the calls that a result follows. */
function findPairs(messages: readonly (ModelMessage | LanguageModelV4Message)[]): Set<string> {
  const made = new Set<string>();
  const paired = new Set<string>();
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-call') made.add(part.toolCallId);
      if (part.type === 'tool-result' && made.has(part.toolCallId)) paired.add(part.toolCallId);
    }
  }
  return paired;
}
