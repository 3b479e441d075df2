import { AgentRegistry } from '../../agents/index.js';
import { createLabAgent } from '../../examples/index.js';
import { createRunWorkflows, createTemporalExecutor } from '../../executor/index.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { createRedisStores } from '../../stores/redis/index.js';
import { TASK_QUEUE, type Bench } from '../bench.js';
import { newSessionId } from './session-ids.js';

/** A turn that is over: its log, and the workflow that made it. */
export interface FinishedRun {
  workflowId: string;
  log: LogEntry[];
}

/**
 * Performs a turn of the lab agent without its cap on steps, which the API's own agent has. It is
 * begun as the API begins turns; the worker is the product's.
 */
export async function performLongRun(bench: Bench, text: string): Promise<FinishedRun> {
  const { servers, temporal } = bench;
  const redis = createRedisStores({ url: servers.redisUrl, role: 'worker' });
  const countCharge = (): Promise<never> => Promise.reject(new Error('nothing is executed here'));
  const executor = createTemporalExecutor({
    store: redis.store,
    streamManager: redis.streamManager,
    workflows: createRunWorkflows(temporal, TASK_QUEUE),
    agents: new AgentRegistry([createLabAgent({ countCharge, maxSteps: Infinity })]),
    searchAttributes: true,
    logger: {
      warn: (_fields, message) => {
        bench.say(message);
      },
    },
  });
  const sessionId = newSessionId();
  const id = 'u1';
  const row = { role: 'user' as const, id, parts: [{ type: 'text' as const, text }] };
  try {
    await redis.ping();
    const result = await executor.execute({
      sessionId,
      agent: 'lab',
      owner: 'bench',
      messages: [{ id, hash: id, row, hidden: false }],
    });
    if (result.kind !== 'begun') throw new Error(`the run was refused: ${result.kind}`);
    const log: LogEntry[] = [];
    const done = new AbortController();
    for await (const entries of redis.streamManager.follow(sessionId, 0, done.signal)) {
      log.push(...entries);
      if (entries.some(({ message }) => message.type === 'stream_end')) done.abort();
    }
    return { workflowId: workflowIdOf(result.run.runId), log };
  } finally {
    await redis.close();
  }
}
