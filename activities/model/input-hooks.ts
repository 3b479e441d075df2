import type { ModelMessage } from 'ai';
import type { ToolDefinition } from '../../agents/definitions.js';
import { withTimeout } from '../../protocol/time.js';
import { checkInput, parseInput } from './call-input.js';
import type { ModelRequest, StepMiddleware } from './middleware.js';

/** As of the hooks of an agent. */
const HOOK_MS = 10_000;

/**
 * Informs tools of the AI SDK of inputs as a model writes them. As in the AI SDK their hooks are called in order, and
 * the reply continues when they return. What they throw, or a hook that does not come back, does not harm it: the
 * hooks of that tool are not called again for this request. A step that is tried again calls them again.
 */
export const inputHooks: StepMiddleware =
  ({ attempt, warn }) =>
  (request, next) => {
    request.noteInput = createInputNotes(request, attempt.signal, (error, tool) => {
      warn("a tool's hook failed", error, { tool });
    });
    return next(request);
  };

/** Undefined if no tool has such hooks. */
function createInputNotes(
  { call: asked, reply }: Pick<ModelRequest, 'call' | 'reply'>,
  signal: AbortSignal,
  onError: (error: unknown, toolName: string) => void,
): ModelRequest['noteInput'] {
  const { tools = [], options: { prompt } = { prompt: [] } } = asked ?? {};
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

  return async (part) => {
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
  };
}
