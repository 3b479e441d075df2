import { tool } from 'ai';
import { z } from 'zod';
import {
  defineTool,
  fromAiSdkTool,
  pause,
  toolContextOf,
  type ToolDefinition,
} from '../../agents/index.js';

const TEN_MINUTES = 600_000;

export const LabState = z.object({ memory: z.record(z.string(), z.unknown()).default({}) });
export type LabState = z.infer<typeof LabState>;

/** Counts one real execution of `charge` under its idempotency key; resolves when it is stored. */
export type CountCharge = (idempotencyKey: string) => Promise<unknown>;

/** Resolves to true if `charge` or `transfer` was executed under this key. */
export type FindCharge = (idempotencyKey: string) => Promise<boolean>;

export const echo = defineTool({
  name: 'echo',
  description: 'Returns the value that it is given.',
  inputSchema: z.object({ value: z.unknown() }),
  execute: ({ value }) => ({ value }),
  idempotent: true,
});

export const sleep = defineTool({
  name: 'sleep',
  description: 'Waits for a number of milliseconds, ten minutes at most.',
  inputSchema: z.object({ ms: z.number().min(0).max(TEN_MINUTES) }),
  execute: async ({ ms }, { abortSignal }) => {
    await pause(ms, abortSignal);
    return { slept: ms };
  },
  timeoutMs: TEN_MINUTES + 60_000,
});

export const boom = defineTool({
  name: 'boom',
  description: 'Fails with the message that it is given.',
  inputSchema: z.object({ message: z.string() }),
  execute: ({ message }) => {
    throw new Error(message);
  },
});

export const locate = defineTool({
  name: 'locate',
  description: 'Asks the browser where it is.',
  inputSchema: z.object({ question: z.string().optional() }),
  execute: 'client',
});

export const ask = defineTool({
  name: 'ask',
  description: 'Asks the browser something that has to be answered within two seconds.',
  inputSchema: z.object({ question: z.string() }),
  execute: 'client',
  deadlineMs: 2_000,
});

export const progress = defineTool({
  name: 'progress',
  description: 'Tells everybody who watches of a number of steps, a thousand at most.',
  inputSchema: z.object({ steps: z.int().min(0).max(1_000) }),
  execute: async ({ steps }, { emit }) => {
    for (let step = 1; step <= steps; step += 1) await emit('progress', { step, of: steps });
    return { steps };
  },
});

const draft = tool({
  description: 'Writes a text piece by piece, and shows what there is of it so far.',
  inputSchema: z.object({
    pieces: z.int().min(1).max(1_000),
    everyMs: z.number().min(0).max(60_000),
  }),
  execute: async function* ({ pieces, everyMs }, options) {
    const { abortSignal } = toolContextOf(options);
    for (let done = 1; done <= pieces; done += 1) {
      yield { done, of: pieces };
      await pause(everyMs, abortSignal);
    }
    yield { written: pieces };
  },
});

/** An AI SDK tool whose `execute` is a generator. */
export const write = fromAiSdkTool('write', draft, { idempotent: true });

export const remember = defineTool({
  name: 'remember',
  description: 'Keeps a value in the memory of the session.',
  inputSchema: z.object({ key: z.string(), value: z.unknown() }),
  execute: ({ key, value }, { updateState }) => {
    updateState<LabState>(({ memory }) => {
      memory[key] = value ?? null;
    });
    return { remembered: key };
  },
});

/** Creates a tool whose effect can be counted by idempotency key from outside. */
export function createCharge(
  countCharge: CountCharge,
  config: { name: string; deadlineMs?: number } = { name: 'charge' },
): ToolDefinition {
  return defineTool({
    description: 'Charges an amount, after a person has agreed.',
    inputSchema: z.object({ amount: z.number(), note: z.string().optional() }),
    ...config,
    requireApproval: true,
    execute: async ({ amount }, { idempotencyKey }) => {
      await countCharge(idempotencyKey);
      return { charged: amount, key: idempotencyKey };
    },
  });
}

/** Creates a `charge` with a deadline short enough to miss. */
export function createHurriedCharge(countCharge: CountCharge): ToolDefinition {
  return createCharge(countCharge, { name: 'hurriedCharge', deadlineMs: 4_000 });
}

/** Creates a `charge` without approval, which checks after a crash whether it has taken effect. */
export function createTransfer(countCharge: CountCharge, findCharge: FindCharge): ToolDefinition {
  return defineTool({
    name: 'transfer',
    description: 'Transfers an amount.',
    inputSchema: z.object({ amount: z.number() }),
    execute: async ({ amount }, { idempotencyKey }) => {
      await countCharge(idempotencyKey);
      return { transferred: amount, key: idempotencyKey };
    },
    verify: async ({ amount }, { idempotencyKey }) =>
      (await findCharge(idempotencyKey))
        ? { outcome: 'done', result: { transferred: amount, key: idempotencyKey } }
        : { outcome: 'not_done' },
  });
}

/** A webhook answers it with `{ value }`; it emits the webhook's address as the event `webhook`. */
export const wait = defineTool({
  name: 'wait',
  description: 'Waits for a request from elsewhere.',
  inputSchema: z.object({}),
  outputSchema: z.object({ value: z.number() }),
  deadlineMs: TEN_MINUTES,
  execute: 'webhook',
  send: (url, _, { emit }) => emit('webhook', { url }),
});
