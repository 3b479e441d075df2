import type { LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import { AgentRegistry, type AgentDefinition } from '../../../agents/index.js';
import { createScriptedModel } from '../../../agents/scripted/scripted-model.js';
import { handleChatStream, type HandleChatStreamDeps } from '../../../ai-sdk/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

export const user = (id: string, text = 'go'): PostedMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** What serves a chat in this process. */
export type ChatRuntime = Pick<MemoryStores, 'streamManager'> & {
  executor: { runs: InProcessExecutor['runs'] };
  stateStore: MemoryStores['store'];
  agents: AgentRegistry;
};

const charge = fakeTool('charge', () => 'ok', {
  inputSchema: z.object({ amount: z.number() }),
  requireApproval: true,
});

const echo = fakeTool('echo', ({ value }) => ({ value }), {
  inputSchema: z.object({ value: z.unknown() }),
  idempotent: true,
});

/** A runtime in this process whose agent speaks as this model. */
export function createRuntime(model: LanguageModelV4): ChatRuntime {
  const tools = [charge, echo];
  return runtimeOf(fakeAgent('lab', model, { tools }));
}

export function runtimeOf(agent: AgentDefinition): ChatRuntime {
  const stores = createMemoryStores();
  const agents = new AgentRegistry([agent]);
  const executor = createInProcessExecutor({ agents, stores });
  atEndOfFile(() => executor.close());
  const { store: stateStore, streamManager } = stores;
  return { executor: { runs: { ...executor.runs } }, stateStore, streamManager, agents };
}

/** A runtime whose agent does what the scripts in messages say. */
export function createScripted(): ChatRuntime {
  return createRuntime(createScriptedModel());
}

export const scripted = (id: string, ...script: object[]): PostedMessage =>
  user(id, JSON.stringify({ script }));

/** A runtime whose agent asks twice in one step and once more in the next, in each turn. */
export function createAsking(): ChatRuntime {
  const asks = (delta: string, ...amounts: number[]) =>
    parts.asks(
      // Readers of a live turn may get several deltas apart or joined.
      [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta },
        { type: 'text-end', id: 't' },
      ],
      ...amounts.map((amount) => parts.call(`c${String(amount)}`, 'charge', { amount })),
    );
  return createRuntime(
    fakeModel((_, { prompt }) => {
      const at = prompt.findLastIndex(({ role }) => role === 'user');
      const steps = prompt.slice(at).filter(({ role }) => role === 'assistant').length;
      return [asks('May I?', 1, 2), asks('And this?', 3)][steps] ?? parts.says('Done.');
    }),
  );
}

interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** Types of the parts, transient ones left out. */
  types: string[];
}

export async function ask(
  runtime: HandleChatStreamDeps,
  messages: PostedMessage[],
  headers: Record<string, string> = {},
  method = 'POST',
  sessionId = 's1',
): Promise<Reply> {
  const response = await handleChatStream(
    { ...runtime, defaultAgent: 'lab' },
    { sessionId, messages, request: { method, headers: new Headers(headers) } },
  );
  const text = await response.text();
  const parts = parseFrames(text).map(({ part }) => part as { type: string; transient?: true });
  const types = parts.filter(({ transient }) => transient !== true).map(({ type }) => type);
  return { status: response.status, headers: response.headers, text, types };
}

export const get = (
  runtime: HandleChatStreamDeps,
  headers?: Record<string, string>,
): Promise<Reply> => ask(runtime, [], headers, 'GET');

/** How a response ends that must not make a stock client post again. */
export const GUARD = ['start-step', 'message-metadata', 'finish-step', 'finish'];

/** A runtime whose session `s1` has asked twice and waits. */
export async function startAsking(): Promise<ChatRuntime> {
  const runtime = createAsking();
  await ask(runtime, [user('u1')]);
  return runtime;
}
