import { defineAgent, type AgentModel } from '../../agents/index.js';
import {
  createFrontendHandler,
  handleChatStream,
  StreamTransformer,
  type FrontendRequest,
  type FrontendSnapshot,
  type HandleChatStreamParams,
  type HelixMessage,
  type UIMessage,
} from '../../ai-sdk/index.js';
import { JSAgentExecutor } from '../../extensions/one-process/index.js';
import type { StreamChunk } from '../../protocol/index.js';
import { InMemoryStateStore, InMemoryStreamManager } from '../../store/memory/index.js';
import type { StoredChunk } from '../../index.js';
import { createScriptedModel } from '../../testing/index.js';
import type { DefaultChatTransport, UIMessage as ChatMessage } from 'ai';
import type { Response as ExpressResponse } from 'express';
import type { Redis } from 'ioredis';
import { z } from 'zod';

// Globals that the samples use without defining them, by their names.

/** @public Samples import it in place of a provider's. */
export const openai = (_name: string): AgentModel =>
  createScriptedModel([{ say: 'Let me see.', finish: { response: 'Hi!' } }]);

const MyAgent = defineAgent({
  name: 'desk',
  systemPrompt: 'Be brief.',
  stateSchema: z.object({ initialValue: z.number().optional() }),
  llmConfig: { model: createScriptedModel([{ think: 'Hm.', say: 'Let me see.' }]) },
});

const stateStore = new InMemoryStateStore();
const streamManager = new InMemoryStreamManager();
const executor = new JSAgentExecutor(stateStore, streamManager);
const deps = {
  executor,
  stateStore,
  streamManager,
  agent: MyAgent,
  contentReplayEnabled: true,
} as const;
const handler = createFrontendHandler({ executor, stateStore, streamManager, agent: MyAgent });

/** The ended conversation of one turn. */
const sessionId = 'given';
const handle = await executor.execute(MyAgent, 'Hello', { sessionId });
await handle.result();
const state = await stateStore.load(sessionId);
if (state === null) throw new Error('There is no conversation.');

/** A stream without a session. */
const streamId = 'of-its-own';
const writer = await streamManager.createWriter(streamId, 'a1', 'desk', { name: 'given' });
const chunks = await streamManager.getAllChunks(sessionId);
const [chunk] = chunks;
if (chunk === undefined) throw new Error('Nothing was said.');
await Promise.all(Array.from({ length: 100 }, () => writer.write(chunk)));
async function* read(): AsyncGenerator<StreamChunk> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}
async function* readStored(): AsyncGenerator<StoredChunk> {
  let sequence = 0;
  for await (const chunk of read()) yield { chunk, sequence: (sequence += 1) };
}
/** Every sample can read this stream from its beginning. */
const stream: AsyncIterable<StreamChunk> = { [Symbol.asyncIterator]: read };

const helixMessages: HelixMessage[] = [
  { role: 'user', content: 'Hello' },
  { role: 'assistant', toolCalls: [{ id: 'tc1', name: 'search', arguments: {} }] },
  { role: 'tool', toolCallId: 'tc1', content: '{"found":1}' },
];

/** Stand-in for values that need a page, Redis or a server: only their types matter. */
const elsewhere = undefined as unknown;

export const given = {
  executor,
  stateStore,
  streamManager,
  deps,
  handler,
  handle,
  MyAgent,
  agent: MyAgent,
  llmAdapter: {},
  sessionId,
  runId: sessionId,
  streamId,
  currentRunId: handle.runId,
  agentId: 'a1',
  agentType: 'desk',
  writer,
  output: { response: 'Hi!' },
  chunk,
  sequence: 1,
  lastId: '0',
  transformer: new StreamTransformer(),
  messages: [] as UIMessage[],
  dispatchChat: (params: HandleChatStreamParams): Promise<Response> =>
    handleChatStream(deps, params),
  getDraft: async (_sessionId: string): Promise<string> => 'a draft',
  helixMessages,
  helixStream: stream,
  stream,
  stream1: stream,
  stream2: stream,
  data: chunk as unknown,
  eventsGenerator: (async function* () {
    yield await Promise.resolve({
      event: { type: 'text-delta', id: 't1', delta: 'Hello' },
      sequence: 1,
    } as const);
  })(),
  request: new Request('http://host.test/', { headers: { 'last-event-id': '1' } }),
  sessionState: state,
  checkpoint: await stateStore.getLatestCheckpoint(sessionId),
  lastEventId: 1,
  lastKnownSequence: 1,
  resumeAt: 1,
  needToKeepHistory: true,
  message: { id: 'm1', role: 'assistant', parts: [] } as UIMessage,
  sleep: (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
  search: async (query: string): Promise<string[]> => [query],
  processChunk: (_chunk: StreamChunk): void => undefined,
  retryCount: 0,
  notFound: (): never => {
    throw new Error('not found');
  },
  env: elsewhere as Record<string, unknown>,
  redis: elsewhere as Redis,
  subscriberRedis: elsewhere as Redis,
  res: elsewhere as ExpressResponse,
  req: elsewhere as FrontendRequest & Request,
  response: elsewhere as Awaited<ReturnType<typeof handler.handleRequest>>,
  snapshot: elsewhere as FrontendSnapshot,
  transport: elsewhere as DefaultChatTransport<ChatMessage>,
  toolHandlers: {},
  reader: { [Symbol.asyncIterator]: readStored } as AsyncIterable<StoredChunk>,
  runOnClient: async (_input: unknown, _signal?: AbortSignal): Promise<unknown> => undefined,
  setMessages: elsewhere as (messages: ChatMessage[]) => void,
  toast: elsewhere as { info: (text: string) => void },
  MessageList: elsewhere as (props: { messages: unknown[] }) => null,
  Messages: elsewhere as (props: { messages: unknown[] }) => null,
  Message: elsewhere as (props: { key?: string; message: unknown }) => null,
  ChatClient: elsewhere as (props: {
    sessionId: string;
    initialSnapshot: FrontendSnapshot;
  }) => null,
  Loading: elsewhere as () => null,
  Spinner: elsewhere as () => null,
};

/** Names that a sample takes from earlier samples without an import, by entry. */
export const CONTINUED: Record<string, readonly string[]> = {
  'helix-temporal': ['defineAgent', 'defineTool'],
  'helix-temporal/ai-sdk': [
    'AI_SDK_UI_HEADER_VALUE',
    'buildSnapshot',
    'convertToUIMessages',
    'extractResumePosition',
    'FrontendHandlerError',
    'HelixStreamError',
    'StreamTransformer',
  ],
  'helix-temporal/ai-sdk/client': ['prepareHelixChatRequest', 'prepareHelixReconnectRequest'],
  'helix-temporal/ai-sdk/react': ['useResumableChat'],
  'helix-temporal/store-redis': ['RedisStreamManager'],
  '@ai-sdk/react': ['useChat'],
  ai: ['DefaultChatTransport'],
  react: ['useEffect', 'useState'],
};

/** Types that samples name without an import. */
export const TYPES: Record<string, readonly string[]> = {
  'helix-temporal': [
    'AgentResult',
    'AgentState',
    'JSONPatchOperation',
    'Message',
    'RunOutcome',
    'StreamChunk',
    'SuspendedChildWaitPayload',
    'UserInputMessage',
  ],
  ai: ['UIMessage'],
};
