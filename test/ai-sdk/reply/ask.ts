import { z } from 'zod';
import { AgentRegistry, defineAgent, defineTool } from '../../../agents/index.js';
import { handleChatStream, type HandleChatStreamDeps } from '../../../ai-sdk/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import type { Play } from '../../support/fake-runtime.js';
import type { FakeSession } from '../../support/fake-session.js';

export const user = (id: string, text = 'go'): PostedMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** Asks twice in one step, and once more in the next. */
export const asking: Play = async (session, _said, answers) => {
  session.step();
  session.say('May I?');
  session.commit([
    { id: 'c1', name: 'charge', kind: 'approval', input: { amount: 1 } },
    { id: 'c2', name: 'charge', kind: 'approval', input: { amount: 2 } },
  ]);
  await answers();
  settleApproved(session);
  session.step();
  session.say('And this?');
  session.commit([{ id: 'c3', name: 'charge', kind: 'approval', input: { amount: 3 } }]);
  await answers();
  settleApproved(session);
  session.step();
  session.say('Done.');
  session.commit();
  session.end();
};

type Asking = Pick<MemoryStores, 'streamManager'> & {
  executor: { runs: InProcessExecutor['runs'] };
  stateStore: MemoryStores['store'];
  agents: AgentRegistry;
};

const charge = defineTool({
  name: 'charge',
  description: 'Charges an amount.',
  inputSchema: z.object({ amount: z.number() }),
  requireApproval: true,
  execute: () => 'ok',
});

/** A runtime in this process whose agent asks as above, in each turn. */
export function createAsking(): Asking {
  const asks = (text: string, ...amounts: number[]) =>
    parts.asks(
      parts.text(text),
      ...amounts.map((amount) => parts.call(`c${String(amount)}`, 'charge', { amount })),
    );
  const model = fakeModel((_, { prompt }) => {
    const at = prompt.findLastIndex(({ role }) => role === 'user');
    const steps = prompt.slice(at).filter(({ role }) => role === 'assistant').length;
    return [asks('May I?', 1, 2), asks('And this?', 3)][steps] ?? parts.says('Done.');
  });
  const lab = defineAgent({ name: 'lab', systemPrompt: '', tools: [charge], llmConfig: { model } });
  const stores = createMemoryStores();
  const agents = new AgentRegistry([lab]);
  const executor = createInProcessExecutor({ agents, stores });
  const { store: stateStore, streamManager } = stores;
  return { executor: { runs: { ...executor.runs } }, stateStore, streamManager, agents };
}

function settleApproved(session: FakeSession): void {
  for (const { state, spec } of [...session.openCalls]) {
    if (state === 'approved') session.settle(spec.toolCallId, { output: 'ok' });
  }
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
): Promise<Reply> {
  const response = await handleChatStream(
    { ...runtime, defaultAgent: 'lab' },
    { sessionId: 's1', messages, request: { method, headers: new Headers(headers) } },
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
export async function startAsking(): Promise<Asking> {
  const runtime = createAsking();
  await ask(runtime, [user('u1')]);
  return runtime;
}
