import type { Client } from '@temporalio/client';
import type { AgentDefinition } from '../../agents/index.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { createAgentExecutor } from '../../runs/index.js';
import type { Bench } from '../bench.js';
import { untilFound } from '../clock.js';
import { openStores } from './seed-turn.js';

/**
 * Performs a turn of any number of steps.
 *
 * @param agent must match the agent of the queue's worker; its step limit is the run's
 */
export async function performLongRun(
  { servers, temporal }: Bench,
  agent: AgentDefinition,
  taskQueue: string,
  text: string,
) {
  const stores = openStores(servers.redisUrl);
  const options = { client: temporal, taskQueue, agents: [agent], stores };
  try {
    const executor = await createAgentExecutor(options);
    const { sessionId, runId } = await executor.execute(agent.name, text);
    const log: LogEntry[] = [];
    const done = new AbortController();
    for await (const entries of stores.streamManager.follow(sessionId, 0, done.signal)) {
      log.push(...entries);
      if (entries.some(({ message }) => message.type === 'stream_end')) done.abort();
    }
    return { sessionId, workflowId: workflowIdOf(runId), log };
  } finally {
    await stores.close();
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
) {
  const { store, close } = openStores(servers.redisUrl);
  const look = async () => {
    const record = await store.sessions.read(sessionId);
    const handle = temporal.workflow.getHandle(workflowIdOf(record?.runId ?? ''));
    await handle.describe();
    return handle;
  };
  try {
    const isThere = () => look().catch(() => undefined);
    const found = await untilFound(isThere, { withinMs: WITHIN_MS, everyMs: 20 });
    if (found === undefined) throw new Error('the run has not begun');
    return found;
  } finally {
    await close();
  }
}
