import { Connection } from '@temporalio/client';
import {
  buildSnapshot,
  handleChatStream,
  type Caller,
  type FrontendSnapshot,
  type HandleChatStreamParams,
} from 'helix-temporal/ai-sdk';
import { createAgentExecutor, type TemporalAgentExecutor } from 'helix-temporal/executor';
import { createRedisStores, type RedisStores } from 'helix-temporal/store-redis';
import { agent } from './agent.mjs';

const { TEMPORAL_ADDRESS = '127.0.0.1:7233', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const { TASK_QUEUE = 'desk' } = process.env;

/** One connection per process, opened by the first request. */
let connected: Promise<{ executor: TemporalAgentExecutor; stores: RedisStores }> | undefined;

async function connect() {
  const stores = createRedisStores({ url: REDIS_URL, whenAway: 'refuse' });
  const executor = await createAgentExecutor({
    connection: Connection.lazy({ address: TEMPORAL_ADDRESS }),
    taskQueue: TASK_QUEUE,
    agents: [agent],
    stores,
  });
  return { executor, stores };
}

async function getDeps() {
  const { executor, stores } = await (connected ??= connect());
  return { executor, stateStore: stores.store, streamManager: stores.streamManager, agent };
}

/** Returns the caller. A real app checks its own sign-in here: nothing else keeps users apart. */
async function getUser(): Promise<Caller> {
  return { userId: 'demo-user' };
}

/** Answers a chat's requests, and pages that follow a reply. */
export async function answerChat(params: HandleChatStreamParams): Promise<Response> {
  return handleChatStream(await getDeps(), { ...params, ...(await getUser()) });
}

/** Returns a page's initial state; null for a new conversation. */
export async function getSnapshot(sessionId: string): Promise<FrontendSnapshot | null> {
  return buildSnapshot(await getDeps(), { sessionId, caller: await getUser() });
}
