import { z } from 'zod';
import { defineTool, pause, type ToolContext, type ToolDefinition } from '../../agents/index.js';
import type { CountCharge } from './tools.js';

/** What the tool does, one after the other. */
const Operation = z.union([
  /** A recorded step that takes so long, and counts its execution. */
  z.object({ step: z.string(), ms: z.number().min(0).max(600_000).default(0) }),
  z.object({ sleepMs: z.number().min(0) }),
  /** Asks for `{ value }` with a number. */
  z.object({ suspend: z.string(), deadlineMs: z.int().positive().optional() }),
  /** Emits its address as the event `webhook`, and waits for `{ value }`. */
  z.object({ webhook: z.string(), deadlineMs: z.int().positive().default(600_000) }),
  z.object({ emit: z.string() }),
]);
type Operation = z.infer<typeof Operation>;

/** A tool that does what it is asked to, and waits in between; its steps can be counted from outside. */
export function createWait(countCharge: CountCharge): ToolDefinition {
  return defineTool({
    name: 'wait',
    description: 'Does several things, one after the other, and waits in between.',
    inputSchema: z.object({ plan: z.array(Operation).max(100) }),
    execute: async ({ plan }, context) => {
      const results: unknown[] = [];
      for (const operation of plan) results.push(await perform(operation, context, countCharge));
      return { results };
    },
  });
}

async function perform(
  operation: Operation,
  context: ToolContext,
  countCharge: CountCharge,
): Promise<unknown> {
  if ('step' in operation) {
    const { step: name, ms } = operation;
    return context.step(name, async () => {
      await countCharge(`${context.idempotencyKey}#${name}`);
      await pause(ms, context.abortSignal);
      return name;
    });
  }
  if ('sleepMs' in operation) {
    await context.sleep(Date.now() + operation.sleepMs);
    return 'slept';
  }
  if ('suspend' in operation) {
    const { suspend: name, deadlineMs } = operation;
    const schema = z.object({ value: z.number() });
    try {
      return await context.suspend({ name, schema, deadlineMs, data: { question: name } });
    } catch (error) {
      return (error as { code?: string }).code;
    }
  }
  if ('webhook' in operation) {
    const { webhook: name, deadlineMs } = operation;
    const schema = z.object({ value: z.number() });
    const send = (url: string): Promise<void> => context.emit('webhook', { name, url });
    try {
      return await context.waitForWebhook({ name, schema, deadlineMs, send });
    } catch (error) {
      return (error as { code?: string }).code;
    }
  }
  await context.emit(operation.emit, {});
  return null;
}
