import type { z } from 'zod';
import { SUBAGENT_TOOL_PREFIX } from '../create-sub-agent-tool.js';
import { defineTool } from '../define-tool.js';
import type { ToolDefinition } from '../definitions.js';
import type { RemoteAgentTransport } from './remote-transport.js';
import { runRemotely } from './run-remotely.js';

/** A tool that is carried out by an agent on another server. */
export interface RemoteSubAgentToolConfig<Input extends z.ZodType, Output extends z.ZodType> {
  transport: RemoteAgentTransport;
  /** The agent's name over there. */
  agentType: string;
  /** What the model calls it. Default: `subagent__` and the name of the agent. */
  name?: string;
  /** Tells the model when and how to delegate. */
  description: string;
  /** Must describe an object. */
  inputSchema: Input;
  /** Checks what came back. */
  outputSchema?: Output;
  /** The user message that the remote agent is given. Default: the input as JSON. */
  toMessage?: (input: z.output<Input>) => string;
  /** The state that the remote session begins with. */
  state?: Record<string, unknown>;
  /** A server that is out of reach for longer is given up, ms. Default 60,000. */
  unreachableMs?: number;
  /** How long the remote run may take, ms. Default: the worker's. */
  timeoutMs?: number;
}

const UNREACHABLE_MS = 60_000;

/**
 * Declares a tool whose calls run an agent on another server; its chunks appear in the parent's
 * stream. The remote run is started once however often the call is attempted. Its result is what
 * the agent handed in, or the text that it said last. Errors are told to the model by code:
 * `framework_subagent_lost`, `subagent_failed`, `remote_subagent_client_tool_unsupported`.
 *
 * @throws DefinitionError that names the tool and says what is wrong
 */
export function createRemoteSubAgentTool<
  Input extends z.ZodType,
  Output extends z.ZodType = z.ZodType,
>(config: RemoteSubAgentToolConfig<Input, Output>): ToolDefinition {
  const { transport, agentType, description, inputSchema, outputSchema, state } = config;
  const { toMessage = JSON.stringify, unreachableMs = UNREACHABLE_MS, timeoutMs } = config;
  return defineTool({
    name: config.name ?? `${SUBAGENT_TOOL_PREFIX}${agentType}`,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    // The remote side starts a run once: a second attempt finds it.
    idempotent: true,
    execute: (input, context) =>
      runRemotely(
        { transport, agentType, message: toMessage(input), unreachableMs, ...(state && { state }) },
        context,
      ) as Promise<z.input<Output>>,
  });
}
