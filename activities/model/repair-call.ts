import { InvalidToolInputError, NoSuchToolError, type ToolSet } from 'ai';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { ModelToolCall } from '../../agents/step-hooks.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { endsWithin } from '../../protocol/time.js';
import { orAborted } from '../attempt.js';
import { checkCallInput, inputSchemaOf, parseInput } from './call-input.js';
import type { ModelCall, ModelRequest } from './middleware.js';
import { toModelMessages } from './prepare-messages.js';
import type { ProposedCall } from './step-reply.js';

/** Longest time for all calls of a step. */
const REPAIR_MS = 60_000;

/**
 * Repairs calls that no tool can take with the agent's `repairToolCall`. A call that it declines or
 * fails to repair stays unchanged, and the model gets an error.
 *
 * @throws Error once the attempt is cut
 */
export async function repairCalls(
  { step: { agent, attempt, warn }, reply: { calls } }: ModelRequest,
  { tools, instructions, options }: ModelCall,
): Promise<readonly ProposedCall[]> {
  const { repairToolCall: repair } = agent;
  if (repair === undefined) return calls;
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const set = Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      { description: tool.description, inputSchema: inputSchemaOf(tool) },
    ]),
  ) as ToolSet;
  const messages = toModelMessages(options.prompt);
  const signal = endsWithin(REPAIR_MS, attempt.signal);
  const inputSchema = async ({ toolName }: { toolName: string }) => {
    const tool = byName.get(toolName);
    if (tool === undefined) throw new NoSuchToolError({ toolName });
    return await inputSchemaOf(tool).jsonSchema;
  };

  return Promise.all(
    calls.map(async (call) => {
      if (call.toolName === FINISH_TOOL_NAME) return call;
      const error = await findFault(byName, call);
      if (error === undefined) return call;
      try {
        const toolCall: ModelToolCall = { type: 'tool-call', ...call };
        const asked = { toolCall, tools: set, instructions, system: instructions, messages, error };
        const work = Promise.resolve(repair({ ...asked, inputSchema }));
        const repaired = await orAborted(work, signal);
        if (typeof repaired?.toolName !== 'string' || typeof repaired.input !== 'string')
          return call;
        return { ...call, toolName: repaired.toolName, input: repaired.input };
      } catch (failure) {
        if (attempt.signal.aborted) throw failure;
        warn('a call could not be repaired', failure);
        return call;
      }
    }),
  );
}

async function findFault(
  tools: ReadonlyMap<string, ToolDefinition>,
  { toolName, input }: ProposedCall,
): Promise<NoSuchToolError | InvalidToolInputError | undefined> {
  const tool = tools.get(toolName);
  if (tool === undefined)
    return new NoSuchToolError({ toolName, availableTools: [...tools.keys()] });
  const checked = await checkCallInput(tool, parseInput(input));
  if (!('why' in checked)) return undefined;
  return new InvalidToolInputError({ toolName, toolInput: input, cause: new Error(checked.why) });
}
