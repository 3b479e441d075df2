import { endsWithin } from '../../protocol/time.js';
import {
  asSchema,
  InvalidToolInputError,
  NoSuchToolError,
  type ModelMessage,
  type ToolSet,
} from 'ai';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { ModelToolCall } from '../../agents/step-hooks.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { orAborted } from '../attempt.js';
import { checkInput, parseInput } from './call-input.js';
import type { ModelCall } from './middleware.js';
import type { ProposedCall } from './reply-types.js';

/** Longest time for all calls of a step. */
const REPAIR_MS = 60_000;

/**
 * Repairs calls that no tool can take with the agent's `repairToolCall`. A call that it declines or
 * fails to repair stays unchanged, and the model gets an error.
 *
 * @throws Error once `cut` fires
 */
export async function repairCalls(
  { repairToolCall }: AgentDefinition,
  { tools, instructions, options }: Pick<ModelCall, 'tools' | 'instructions' | 'options'>,
  calls: readonly ProposedCall[],
  cut: AbortSignal,
  onError: (error: unknown) => void,
): Promise<readonly ProposedCall[]> {
  if (repairToolCall === undefined) return calls;
  const repair = repairToolCall;
  const set = Object.fromEntries(tools.map((tool) => [tool.name, toSetTool(tool)])) as ToolSet;
  const messages = options.prompt.filter(({ role }) => role !== 'system') as ModelMessage[];
  const signal = endsWithin(REPAIR_MS, cut);

  return Promise.all(
    calls.map(async (call) => {
      if (call.toolName === FINISH_TOOL_NAME) return call;
      const error = await findFault(tools, call);
      if (error === undefined) return call;
      try {
        const toolCall: ModelToolCall = { type: 'tool-call', ...call };
        const system = instructions;
        const asked = { toolCall, tools: set, instructions, system, messages, error };
        const work = Promise.resolve(repair({ ...asked, inputSchema: toInputSchema(tools) }));
        const repaired = await orAborted(work, signal);
        if (typeof repaired?.toolName !== 'string' || typeof repaired.input !== 'string')
          return call;
        return { ...call, toolName: repaired.toolName, input: repaired.input };
      } catch (failure) {
        if (cut.aborted) throw failure;
        onError(failure);
        return call;
      }
    }),
  );
}

async function findFault(
  tools: readonly ToolDefinition[],
  { toolName, input }: ProposedCall,
): Promise<NoSuchToolError | InvalidToolInputError | undefined> {
  const tool = tools.find(({ name }) => name === toolName);
  if (tool === undefined) {
    return new NoSuchToolError({ toolName, availableTools: tools.map(({ name }) => name) });
  }
  const checked = await checkInput(tool.inputSchema, parseInput(input));
  if (!('why' in checked)) return undefined;
  return new InvalidToolInputError({ toolName, toolInput: input, cause: new Error(checked.why) });
}

function schemaOf({ forModel, inputSchema }: ToolDefinition) {
  return asSchema(forModel?.inputSchema ?? inputSchema);
}

function toSetTool(tool: ToolDefinition): object {
  return { description: tool.description, inputSchema: schemaOf(tool) };
}

function toInputSchema(tools: readonly ToolDefinition[]) {
  return async ({ toolName }: { toolName: string }) => {
    const tool = tools.find(({ name }) => name === toolName);
    if (tool === undefined) throw new NoSuchToolError({ toolName });
    return await schemaOf(tool).jsonSchema;
  };
}
