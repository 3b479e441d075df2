import type { z } from 'zod';
import type { ToolCallIdentity, ToolContext } from './tool-context.js';

/**
 * A tool as the runtime sees it. The schemas' types are gone: the runtime parses an input with
 * `inputSchema` and hands `execute` what came out of that.
 */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodType;
  readonly outputSchema?: z.ZodType;
  readonly execute: 'client' | ((input: unknown, context: ToolContext) => unknown);
  readonly requireApproval?:
    true | ((input: unknown, call: ToolCallIdentity) => boolean | Promise<boolean>);
  readonly idempotent?: boolean;
  readonly deadlineMs?: number;
  readonly timeoutMs?: number;
}
