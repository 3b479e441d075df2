import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../../agents/index.js';

/** Creates a tool that a webhook answers with `{ value }`; it emits the webhook's address as the event `webhook`. */
export function createWait(name: string, deadlineMs: number): ToolDefinition {
  return defineTool({
    name,
    description: 'Waits for a request from elsewhere.',
    inputSchema: z.object({}),
    outputSchema: z.object({ value: z.number() }),
    deadlineMs,
    execute: 'webhook',
    send: (url, _, { emit }) => emit('webhook', { url }),
  });
}
