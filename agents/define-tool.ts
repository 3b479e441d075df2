import type { z } from 'zod';
import type { OnExpiry } from '../protocol/run.js';
import { DefinitionError } from './definition-error.js';
import type { ApprovalRule, RetryPolicy, ToolDefinition } from './definitions.js';
import type { ToolContext } from './tool-context.js';
import { findToolFault } from './tool-faults.js';

/** A tool as its author writes it; the callbacks are typed from the schemas. */
export interface ToolConfig<Input extends z.ZodType, Output extends z.ZodType> {
  /** What the model calls it: `[A-Za-z0-9_-]{1,64}`, unique within an agent. */
  name: string;
  /** Tells the model when and how to use the tool. */
  description: string;
  /** Must describe an object. Every input is checked against it before anything else happens. */
  inputSchema: Input;
  /** Checks what `execute` or the client returned. */
  outputSchema?: Output;
  /**
   * Runs on a worker and returns something JSON can carry; what it throws is told to the model.
   * `'client'`: the call is handed to the browser, which sends the result back.
   */
  execute:
    | 'client'
    | ((
        input: z.output<Input>,
        context: ToolContext,
      ) => z.input<Output> | Promise<z.input<Output>>);
  /** A person must agree before `execute` runs; the function form decides call by call. */
  requireApproval?: true | ApprovalRule<z.output<Input>>;
  /** Safe to run again when a worker died in the middle of it. Default: false, never repeated. */
  idempotent?: boolean;
  /** Executes a call again when the tool throws; only for tools that are `idempotent`. Default: never. */
  retry?: RetryPolicy;
  /**
   * The result of a successful call is that of the run, which ends once the step's other calls are
   * settled; the function form makes the run's result of it. It has to fit the agent's `outputSchema`.
   */
  finishWith?: true | ((output: z.output<Output>) => unknown);
  /** How long a client tool or an approval waits for its answer, in ms. Default: no limit. */
  deadlineMs?: number;
  /**
   * What becomes of a call whose deadline has passed: approvals take `'deny'` (the default) or
   * `'approve'`, client tools `{ result }`, told to the model in place of the client's.
   */
  onExpiry?: OnExpiry;
  /** How long `execute` may take, in ms. Default: the worker's. */
  timeoutMs?: number;
}

/**
 * Declares a tool. Pure data: nothing runs.
 *
 * @throws DefinitionError that names the tool and says what is wrong with it
 */
export function defineTool<Input extends z.ZodType, Output extends z.ZodType = z.ZodType>(
  config: ToolConfig<Input, Output>,
): ToolDefinition {
  // The one place where the schemas' types are dropped; sound because the runtime only ever calls
  // back with what `inputSchema` itself produced.
  const tool = { ...config } as ToolDefinition;
  const fault = findToolFault(tool);
  if (fault !== undefined) throw new DefinitionError(fault, { tool: tool.name });
  return Object.freeze(tool);
}
