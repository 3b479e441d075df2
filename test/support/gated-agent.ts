import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { fakeModel, parts } from './fake-model.js';
import { fakeTool } from './fake-tool.js';

export interface GatedAgent {
  agent: AgentDefinition;
  /** Releases the gate's waiter, now or when it arrives. */
  open: (name: string) => void;
  /** Resolves when a run waits at the gate. */
  reached: (name: string) => Promise<void>;
}

/**
 * Creates an agent that tests hold and release. `speak <name>` makes its model stop in mid-sentence
 * until that gate is opened, `call <name>` makes a tool call that waits there; it repeats any other
 * text.
 */
export function createGatedAgent(activities?: RunShape, name = 'gated'): GatedAgent {
  const opened = createFlags();
  const reached = createFlags();
  async function pass(gate: string, signal: AbortSignal | undefined): Promise<void> {
    reached.raise(gate);
    await Promise.race([opened.raised(gate), untilAborted(signal)]);
    signal?.throwIfAborted();
  }
  const wait = fakeTool(
    'wait',
    async ({ gate }, { abortSignal }) => {
      await pass(gate, abortSignal);
      return { passed: gate };
    },
    { inputSchema: z.object({ gate: z.string() }) },
  );
  const model = fakeModel((_, { prompt, abortSignal }) => {
    const last = prompt.at(-1);
    if (last?.role === 'tool') return parts.says('done');
    const wish =
      last?.role === 'user' && last.content[0]?.type === 'text' ? last.content[0].text : '';
    const [verb, gate = ''] = wish.split(' ');
    if (verb === 'speak') return speak(() => pass(gate, abortSignal));
    if (verb === 'call') {
      return parts.asks(parts.call(`call-${gate}`, 'wait', { gate }));
    }
    return parts.says(`You said ${wish}`);
  });
  const base = { systemPrompt: '', tools: [wait], llmConfig: { model } };
  const agent = defineAgent({ name, activities, ...base });
  return { agent, open: opened.raise, reached: reached.raised };
}

async function* speak(pass: () => Promise<void>): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'Once upon' };
  await pass();
  yield { type: 'text-delta', id: 't', delta: ' a time' };
  yield { type: 'text-end', id: 't' };
  yield* parts.finish();
}

/** Creates named one-time events, which may happen before or after a test waits for them. */
export function createFlags(): {
  raise: (name: string) => void;
  raised: (name: string) => Promise<void>;
} {
  const raised = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();
  return {
    raise: (name) => {
      raised.add(name);
      for (const go of waiting.get(name) ?? []) go();
    },
    raised: (name) =>
      new Promise((resolve) => {
        if (raised.has(name)) resolve();
        else waiting.set(name, [...(waiting.get(name) ?? []), resolve]);
      }),
  };
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => {
      resolve();
    });
  });
}
