import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { createRunWorkflows } from '../../runs/run-workflows.js';
import { createRuns } from '../../runs/create-runs.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { openStores } from '../stores.js';
import type { Bench } from '../bench.js';
import { newSessionId } from './session-ids.js';

/** Who the API takes everybody for. */
const OWNER = 'anonymous';

export interface LongRun {
  /** As the worker of that queue knows it; its cap on steps is the run's. */
  agent: AgentDefinition;
  taskQueue: string;
  text: string;
  /** Called once the turn has begun. */
  onBegun?: (sessionId: string) => void;
}

/** A turn that is over: its log, and the workflow that made it. */
export interface FinishedRun {
  workflowId: string;
  log: LogEntry[];
}

/** Performs a turn of any number of steps. It is begun as the API begins turns. */
export async function performLongRun(
  { servers, temporal, say }: Bench,
  { agent, taskQueue, text, onBegun }: LongRun,
): Promise<FinishedRun> {
  const redis = openStores(servers.redisUrl);
  const executor = createRuns({
    store: redis.store,
    streamManager: redis.streamManager,
    workflows: createRunWorkflows(temporal, taskQueue),
    agents: new AgentRegistry([agent]),
    searchAttributes: true,
    logger: {
      warn: (_fields, message) => {
        say(message);
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
      agent: agent.name,
      owner: OWNER,
      messages: [{ id, hash: id, row, hidden: false }],
    });
    if (result.kind !== 'begun') throw new Error(`the run was refused: ${result.kind}`);
    onBegun?.(sessionId);
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
