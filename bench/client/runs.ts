import type { Client, WorkflowHandle } from '@temporalio/client';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { createTemporalRuns } from '../../runs/temporal-runs.js';
import type { Bench } from '../bench.js';
import { untilFound } from '../clock.js';
import { newSessionId } from './chat-client.js';
import { openStores } from './seed-turn.js';

/** The API's user id without accounts. */
const OWNER = 'anonymous';

export interface LongRun {
  /** Must match the agent of the queue's worker; its step limit is the run's. */
  agent: AgentDefinition;
  taskQueue: string;
  text: string;
}

/** The log and the workflow of an ended turn. */
export interface FinishedRun {
  sessionId: string;
  workflowId: string;
  log: LogEntry[];
}

/** Performs a turn of any number of steps, starting it as the API does. */
export async function performLongRun(
  { servers, temporal, say }: Bench,
  { agent, taskQueue, text }: LongRun,
): Promise<FinishedRun> {
  const redis = openStores(servers.redisUrl);
  const { runs: executor } = await createTemporalRuns(temporal, taskQueue, {
    store: redis.store,
    streamManager: redis.streamManager,
    agents: new AgentRegistry([agent]),
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
    const log: LogEntry[] = [];
    const done = new AbortController();
    for await (const entries of redis.streamManager.follow(sessionId, 0, done.signal)) {
      log.push(...entries);
      if (entries.some(({ message }) => message.type === 'stream_end')) done.abort();
    }
    return { sessionId, workflowId: workflowIdOf(result.run.runId), log };
  } finally {
    await redis.close();
  }
}

/** Size of a workflow's history over all its executions. */
export interface History {
  events: number;
  bytes: number;
}

/** Reads the history size of an ended workflow, from its newest execution backwards. */
export async function readHistory({ workflow }: Client, workflowId: string): Promise<History> {
  const total: History = { events: 0, bytes: 0 };
  let runId: string | undefined;
  do {
    const handle = workflow.getHandle(workflowId, runId);
    const { historyLength, historySize = NaN } = await handle.describe();
    total.events += historyLength;
    total.bytes += historySize;
    const { events } = await handle.fetchHistory();
    const begin = events?.[0]?.workflowExecutionStartedEventAttributes;
    // Empty for the first execution.
    runId = begin?.continuedExecutionRunId ?? undefined;
  } while (runId !== undefined && runId !== '');
  return total;
}

const WITHIN_MS = 10_000;

/** Returns the workflow of a session's newest run; waits for the run if needed. */
export async function runOf(
  { servers, temporal }: Pick<Bench, 'servers' | 'temporal'>,
  sessionId: string,
): Promise<WorkflowHandle> {
  const redis = openStores(servers.redisUrl);
  const look = async (): Promise<WorkflowHandle | undefined> => {
    const record = await redis.store.sessions.read(sessionId).catch(() => undefined);
    if (record === undefined) return undefined;
    const handle = temporal.workflow.getHandle(workflowIdOf(record.runId));
    return handle.describe().then(
      () => handle,
      () => undefined,
    );
  };
  try {
    const found = await untilFound(look, { withinMs: WITHIN_MS, everyMs: 20 });
    if (found === undefined) throw new Error('the run has not begun');
    return found;
  } finally {
    await redis.close();
  }
}
