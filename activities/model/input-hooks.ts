import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ToolDefinition } from '../../agents/definitions.js';
import { withTimeout } from '../../protocol/time.js';
import { checkCallInput, parseInput } from './call-input.js';
import { HOOK_MS } from './finish-hooks.js';
import type { ClaimedStep, ModelCall, ModelRequest, StepMiddleware } from './middleware.js';
import { toModelMessages } from './prepare-messages.js';

/**
 * Calls the input hooks of AI SDK tools while a model writes inputs. As in the AI SDK, hooks run in
 * order and the reply waits for them. A hook that throws or hangs does not harm the reply; that
 * tool's hooks are not called again for this request. A retried step calls them again.
 */
export const inputHooks: StepMiddleware = (step) => (request, next) => {
  request.onPart = request.call && createInputNotes(step, request.call, request.reply);
  return next(request);
};

/** Returns undefined if no tool has such hooks. */
function createInputNotes(
  { attempt: { signal }, warn }: ClaimedStep,
  { tools, options: { prompt } }: ModelCall,
  reply: ModelRequest['reply'],
): ((part: LanguageModelV4StreamPart) => Promise<void>) | undefined {
  const listening = new Map(tools.flatMap((tool) => (tool.onInput ? [[tool.name, tool]] : [])));
  if (listening.size === 0) return undefined;
  const messages = toModelMessages(prompt);
  /** Calls whose input is still being written, by the provider's id. */
  const writing = new Map<string, { tool: ToolDefinition; toolCallId: string }>();

  async function call(
    { name, onInput }: ToolDefinition,
    which: 'start' | 'delta' | 'available',
    more: { toolCallId: string; inputTextDelta?: string; input?: unknown },
  ): Promise<void> {
    const hook = onInput?.[which];
    if (hook === undefined || !listening.has(name)) return;
    try {
      const options = { ...more, messages, abortSignal: signal };
      const work = Promise.resolve().then(() => hook(options));
      await withTimeout(HOOK_MS, work, { signal });
    } catch (error) {
      listening.delete(name);
      if (!signal.aborted) warn("a tool's hook failed", error, { tool: name });
    }
  }

  return async (part) => {
    switch (part.type) {
      case 'tool-input-start': {
        const tool = listening.get(part.toolName);
        const toolCallId = reply.knownId(part.id);
        if (tool === undefined || toolCallId === undefined) return;
        writing.set(part.id, { tool, toolCallId });
        return call(tool, 'start', { toolCallId });
      }
      case 'tool-input-delta': {
        const { tool, toolCallId } = writing.get(part.id) ?? {};
        if (tool === undefined || toolCallId === undefined) return;
        return call(tool, 'delta', { toolCallId, inputTextDelta: part.delta });
      }
      case 'tool-call': {
        writing.delete(part.toolCallId);
        const made = reply.calls.at(-1);
        const tool = listening.get(part.toolName);
        if (part.providerExecuted === true || tool === undefined || made === undefined) return;
        const checked = await checkCallInput(tool, parseInput(made.input));
        if (!('data' in checked)) return;
        return call(tool, 'available', { toolCallId: made.toolCallId, input: checked.data });
      }
      default:
    }
  };
}
