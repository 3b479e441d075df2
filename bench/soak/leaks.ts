import type { Client } from '@temporalio/client';
import { Cluster, type Redis } from 'ioredis';
import { sleep } from '../clock.js';
import { residentMegabytes } from '../processes/usage.js';

/** One server or several. */
export type AnyRedis = Redis | Cluster;

/** What is freed in the background is given this long. */
const FREED_WITHIN_MS = 30_000;

/** Keys of Redis that name one of the conversations, some time after all of them were erased. */
export async function findLeftKeys(redis: AnyRedis, prefix: string): Promise<string[]> {
  return untilEmpty(async () => {
    const keys: string[] = [];
    for (const node of redis instanceof Cluster ? redis.nodes('master') : [redis]) {
      for await (const page of node.scanStream({ match: `*${prefix}*`, count: 1_000 })) {
        keys.push(...(page as string[]));
      }
    }
    return keys;
  });
}

/** Workflows that still run some time after their conversations were erased. */
export async function findOpenWorkflows(client: Client, taskQueue: string): Promise<string[]> {
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`;
  return untilEmpty(async () => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  });
}

async function untilEmpty(look: () => Promise<string[]>): Promise<string[]> {
  const giveUpAt = Date.now() + FREED_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found.length === 0 || Date.now() > giveUpAt) return found;
    await sleep(500);
  }
}

const SAMPLE_MS = 5_000;
/** Fewer samples give no verdict. */
const LEAST_SAMPLES = 40;
/** Growth from the second quarter of the time to the last one: more is a leak. */
const MOST_GROWTH = 1.25;
const SLACK_MB = 60;

/** Watches the memory of processes until it is asked which of them grow. */
export function watchMemory(pids: Readonly<Record<string, number>>): () => string[] {
  const samples = new Map(Object.keys(pids).map((name) => [name, [] as number[]]));
  const timer = setInterval(() => {
    for (const [name, pid] of Object.entries(pids)) {
      samples.get(name)?.push(residentMegabytes(pid) ?? NaN);
    }
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return [...samples].flatMap(([name, all]) => {
      const quarter = Math.floor(all.length / 4);
      const early = median(all.slice(quarter, 2 * quarter));
      const late = median(all.slice(-quarter));
      const grows = all.length >= LEAST_SAMPLES && late > early * MOST_GROWTH + SLACK_MB;
      return grows ? [`${name} ${early.toFixed(0)} → ${late.toFixed(0)} MB`] : [];
    });
  };
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
