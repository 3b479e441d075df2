import { z } from 'zod';
import { defineTool } from '../../agents/index.js';

/** A webhook answers it with `{ value }`; it emits the webhook's address as the event `webhook`. */
export const wait = defineTool({
  name: 'wait',
  description: 'Waits for a request from elsewhere.',
  inputSchema: z.object({}),
  outputSchema: z.object({ value: z.number() }),
  deadlineMs: 600_000,
  execute: 'webhook',
  send: (url, _, { emit }) => emit('webhook', { url }),
});
