import type { z } from 'zod';
import { assertSettings, type DefinitionSubject } from './definition-error.js';
import type { ToolDefinition } from './definitions.js';
import type { OutputOf, TypedTool } from './tool-types.js';
import { ForeignToolConfig, SubAgentTool, ToolConfig } from './tool-config.js';

/**
 * Declares a tool. Pure data: nothing runs.
 *
 * @example
 * import { defineTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * export const refund = defineTool({
 *   name: 'refund',
 *   description: 'Pays an order back.',
 *   inputSchema: z.object({ orderId: z.string(), amount: z.number().positive() }),
 *   requireApproval: true,
 *   execute: async ({ orderId, amount }, { idempotencyKey }) => {
 *     // The payment provider refuses a second request with the same key.
 *     await fetch(`https://pay.example/refunds/${orderId}`, {
 *       method: 'POST',
 *       headers: { 'idempotency-key': idempotencyKey },
 *       body: JSON.stringify({ amount }),
 *     });
 *     return { refunded: amount };
 *   },
 * });
 *
 * @throws DefinitionError that names the tool and each wrong field
 */
export function defineTool<
  Input extends z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const Name extends string = string,
  Result extends z.input<Output> = z.input<Output>,
>(
  config: ToolConfig<Input, Output, Result, Name>,
): TypedTool<Name, z.input<Input>, OutputOf<Output, Result>> {
  assertSettings(ToolConfig, config, { tool: config.name });
  // Only `InferAgentTools` sees the schemas' types from here on. The cast is sound: the runtime
  // calls back only with results of `inputSchema`.
  return Object.freeze({ ...config } as unknown as TypedTool<
    Name,
    z.input<Input>,
    OutputOf<Output, Result>
  >);
}

/**
 * Checks a tool in an agent's list, which plain JavaScript may have built by hand.
 *
 * @throws DefinitionError
 */
export function assertTool(tool: ToolDefinition, subject: DefinitionSubject): void {
  const ownSchema = tool.forModel === undefined ? ToolConfig : ForeignToolConfig;
  const schema = tool.subAgent === undefined ? ownSchema : SubAgentTool;
  assertSettings(schema, tool, { ...subject, tool: tool.name });
}
