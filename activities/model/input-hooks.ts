import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import type { ToolDefinition } from '../../agents/definitions.js';
import { withTimeout } from '../../protocol/time.js';
import { checkInput, parseInput } from './call-input.js';
import type { StepReply } from './reply-types.js';

/** Informs tools of the AI SDK of inputs as a model writes them. */
export interface InputNotes {
  /** Called with each part once the reply has taken it; resolves when the tool's hook has returned. */
  hear: (part: LanguageModelV4StreamPart, reply: StepReply) => Promise<void>;
}

/** As of the hooks of an agent. */
const HOOK_MS = 10_000;

/**
 * Undefined if no tool has such hooks. As in the AI SDK they are called in order, and the reply continues
 * when they return. What they throw, or a hook that does not come back, does not harm it: the hooks of
 * that tool are not called again for this reply. A step that is tried again calls them again.
 */
export function createInputNotes(
  tools: readonly ToolDefinition[],
  prompt: LanguageModelV4Prompt,
  signal: AbortSignal,
  onError: (error: unknown, toolName: string) => void,
): InputNotes | undefined {
  const listening = new Map(tools.flatMap((tool) => (tool.onInput ? [[tool.name, tool]] : [])));
  if (listening.size === 0) return undefined;
  const messages = prompt.filter(({ role }) => role !== 'system') as ModelMessage[];
  /** Calls that are being written, by the provider's id. */
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
      if (!signal.aborted) onError(error, name);
    }
  }

  return {
    hear: async (part, reply) => {
      switch (part.type) {
        case 'tool-input-start': {
          const tool = listening.get(part.toolName);
          const toolCallId = reply.knownId(part.id);
          if (tool === undefined || toolCallId === undefined) return;
          writing.set(part.id, { tool, toolCallId });
          await call(tool, 'start', { toolCallId });
          return;
        }
        case 'tool-input-delta': {
          const { tool, toolCallId } = writing.get(part.id) ?? {};
          if (tool === undefined || toolCallId === undefined) return;
          await call(tool, 'delta', { toolCallId, inputTextDelta: part.delta });
          return;
        }
        case 'tool-call': {
          writing.delete(part.toolCallId);
          const made = reply.calls.at(-1);
          const tool = listening.get(part.toolName);
          if (part.providerExecuted === true || tool === undefined || made === undefined) return;
          const checked = await checkInput(tool.inputSchema, parseInput(made.input));
          if (!('data' in checked)) return;
          await call(tool, 'available', { toolCallId: made.toolCallId, input: checked.data });
          return;
        }
        default:
      }
    },
  };
}
