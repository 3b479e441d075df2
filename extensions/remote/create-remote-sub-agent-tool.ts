import type { z } from 'zod';
import {
  defineTool,
  SUBAGENT_TOOL_PREFIX,
  type OutputOf,
  type TypedTool,
} from '../../agents/index.js';
import type { RemoteAgentTransport } from './remote-transport.js';
import { runRemotely } from './run-remotely.js';

/** Options of a tool that an agent on another server executes. */
export interface RemoteSubAgentToolConfig<
  Input extends z.ZodType,
  Output extends z.ZodType,
  AgentType extends string = string,
  Name extends string = string,
> {
  transport: RemoteAgentTransport;
  /** The agent's name on that server. */
  agentType: AgentType;
  /** The tool's name for the model. Default: `subagent__` followed by the agent's name. */
  name?: Name;
  /** Explains to the model when and how to delegate. */
  description: string;
  /** Must describe an object. */
  inputSchema: Input;
  /** Checks the remote result. */
  outputSchema?: Output;
  /** The user message that the remote agent gets. Default: the input as JSON. */
  toMessage?: (input: z.output<Input>) => string;
  /** Initial state of the remote session. */
  state?: Record<string, unknown>;
  /** The call fails if the server is unreachable for this long, ms. Default: 60,000. */
  unreachableMs?: number;
  /** Time limit of the remote run, ms. Default: the worker's limit for tools. */
  timeoutMs?: number;
}

const UNREACHABLE_MS = 60_000;

/**
 * Declares a tool whose calls run an agent on another server; its chunks appear in the parent's
 * stream. The remote run starts once, even if the call is attempted several times. Its result is the
 * agent's output, or the text of its last step. The model sees errors by code:
 * `framework_subagent_lost`, `subagent_failed`, `remote_subagent_client_tool_unsupported`.
 *
 * @example
 * import { createRemoteSubAgentTool, HttpRemoteAgentTransport } from 'helix-temporal/remote';
 * import { z } from 'zod';
 *
 * export const translate = createRemoteSubAgentTool({
 *   transport: new HttpRemoteAgentTransport({ url: 'https://agents.example.com/api/agent' }),
 *   agentType: 'translator',
 *   description: 'Translates a text into German.',
 *   inputSchema: z.object({ text: z.string() }),
 *   toMessage: ({ text }) => text,
 * });
 *
 * @throws DefinitionError that names the tool and each wrong field
 */
export function createRemoteSubAgentTool<
  Input extends z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const AgentType extends string = string,
  const Name extends string = `${typeof SUBAGENT_TOOL_PREFIX}${AgentType}`,
>(
  config: RemoteSubAgentToolConfig<Input, Output, AgentType, Name>,
): TypedTool<NoInfer<Name>, z.input<Input>, OutputOf<Output, z.input<Output>>> {
  const { transport, agentType, description, inputSchema, outputSchema, state } = config;
  const { toMessage = JSON.stringify, unreachableMs = UNREACHABLE_MS, timeoutMs } = config;
  return defineTool({
    name: (config.name ?? `${SUBAGENT_TOOL_PREFIX}${agentType}`) as Name,
    description,
    inputSchema,
    outputSchema,
    timeoutMs,
    // A second attempt finds the run that the first one started.
    idempotent: true,
    execute: (input, context) =>
      runRemotely(
        { transport, agentType, message: toMessage(input), unreachableMs, state },
        context,
      ) as Promise<z.input<Output>>,
  });
}
