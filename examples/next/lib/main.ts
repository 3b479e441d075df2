import { Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import {
  buildSnapshot,
  handleChatStream,
  type Caller,
  type HandleChatStreamDeps,
  type HandleChatStreamParams,
  type SnapshotDeps,
} from '../../../ai-sdk/index.js';
import type { FrontendSnapshot } from '../../../protocol/http.js';
import { RedisStateStore, RedisStreamManager } from '../../../stores/redis/index.js';
import { createAgentExecutor } from '../../../worker/index.js';
import { createSupportAgent } from '../../support/agent.js';

// In an app: 'helix-temporal/ai-sdk', '/store-redis' and '/runtime-temporal'.
const { TEMPORAL_ADDRESS = '127.0.0.1:7233', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const { TASK_QUEUE = 'agents' } = process.env;

const agent = createSupportAgent();

type Deps = HandleChatStreamDeps & SnapshotDeps & { close: () => Promise<void> };

/** Connected once for the process, with the first request. */
let deps: Promise<Deps> | undefined;

function connect(): Promise<Deps> {
  deps ??= (async () => {
    const connection = Connection.lazy({ address: TEMPORAL_ADDRESS });
    const redis = new Redis(REDIS_URL);
    const stateStore = new RedisStateStore(redis);
    const streamManager = new RedisStreamManager(redis);
    const stores = { store: stateStore, streamManager };
    const options = { connection, taskQueue: TASK_QUEUE, agents: [agent], stores };
    const executor = await createAgentExecutor(options);
    const close = async (): Promise<void> => {
      await Promise.all([streamManager.close(), connection.close()]);
      redis.disconnect();
    };
    return { executor, stateStore, streamManager, agent, close };
  })();
  return deps;
}

/** Who asks. An app looks into its own session here: what it says is all that keeps people apart. */
async function getUser(): Promise<Caller> {
  return Promise.resolve({ userId: 'demo-user' });
}

/** Answers what a chat posts, or a page that wants to follow. */
export async function dispatchChat(params: HandleChatStreamParams): Promise<Response> {
  return handleChatStream(await connect(), { ...params, ...(await getUser()) });
}

/** What a page starts with; null if the user has no such conversation. */
export async function getSnapshot(sessionId: string): Promise<FrontendSnapshot | null> {
  return buildSnapshot(await connect(), { sessionId, caller: await getUser() });
}

/** For processes that end in an orderly way. */
export async function disconnect(): Promise<void> {
  await (await deps)?.close();
}
