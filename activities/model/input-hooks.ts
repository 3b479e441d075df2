import type { ModelMessage } from 'ai';
import type { ToolDefinition } from '../../agents/definitions.js';
import { withTimeout } from '../../protocol/time.js';
import { checkInput, parseInput } from './call-input.js';
import type { ModelRequest, StepMiddleware } from './middleware.js';

/** Time limit of a hook, as in `finish-hooks.ts`. */
const HOOK_MS = 10_000;

/**
 * Calls the input hooks of AI SDK tools while a model writes inputs. As in the AI SDK, hooks run in
 * order and the reply waits for them. A hook that throws or hangs does not harm the reply; that
 * tool's hooks are not called again for this request. A retried step calls them again.
 */
export const inputHooks: StepMiddleware =
  ({ attempt, warn }) =>
  (request, next) => {
    request.noteInput = createInputNotes(request, attempt.signal, (error, tool) => {
      warn("a tool's hook failed", error, { tool });
    });
    return next(request);
  };

/** Returns undefined if no tool has such hooks. */
function createInputNotes(
  { call: asked, reply }: Pick<ModelRequest, 'call' | 'reply'>,
  signal: AbortSignal,
  onError: (error: unknown, toolName: string) => void,
): ModelRequest['noteInput'] {
  const { tools = [], options: { prompt } = { prompt: [] } } = asked ?? {};
  const listening = new Map(tools.flatMap((tool) => (tool.onInput ? [[tool.name, tool]] : [])));
  if (listening.size === 0) return undefined;
  const messages = prompt.filter(({ role }) => role !== 'system') as ModelMessage[];
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
