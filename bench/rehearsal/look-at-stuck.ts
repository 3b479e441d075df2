import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Cluster } from 'ioredis';
import { findKeys } from '../soak/audit.js';
import type { Requests } from '../soak/page.js';

/** Sources of facts about a conversation. */
interface Sources {
  requests: Requests;
  redis: Cluster;
  client: Client;
  /** Folder of the reports, a file per conversation. */
  folder: string;
}

/** Values and history lines are cut to this length. */
const MAX_CHARACTERS = 2_000;
const LAST_EVENTS = 40;
const LAST_ENTRIES = '10';
const LATELY_MS = 600_000;

/**
 * Writes a report about a stuck conversation: its page, its record, and each workflow of its runs and
 * sub-agents with its pending work and latest events.
 *
 * @returns the file; later reports are appended to it
 */
export async function lookAtStuck(
  { requests, redis, client, folder }: Sources,
  sessionId: string,
  why: string,
): Promise<string> {
  const file = join(folder, `stuck-${sessionId}.txt`);
  const write = (text: string): Promise<void> => appendFile(file, `${text}\n`);
  // A part that cannot be read, such as from an engine that is away, does not stop the others.
  const part = async (title: string, read: () => Promise<readonly string[]>): Promise<void> => {
    const lines = await read().catch((error: unknown) => [`cannot be read: ${String(error)}`]);
    await write(`\n## ${title}\n${lines.join('\n')}`);
  };

  await write(`\n# ${new Date().toISOString()} ${sessionId}: ${why}`);
  await part('What its page is shown', async () => {
    const { messages, ...rest } = await requests.snapshot(sessionId);
    return [JSON.stringify(rest), ...messages.slice(-3).map((each) => cut(JSON.stringify(each)))];
  });
  await part('Its record', () => readRecord(redis, sessionId));
  await part('Its workflows', () => readWorkflows(client, sessionId));
  return file;
}

async function readRecord(redis: Cluster, sessionId: string): Promise<string[]> {
  const keys = await findKeys(redis, `*{${sessionId}}*`);
  const lines: string[] = [];
  for (const key of keys.sort()) lines.push(`${key}: ${cut(await readKey(redis, key))}`);
  return lines;
}

/** Commands that read a key, by its type. */
const READ: Readonly<Record<string, (key: string) => [command: string, ...args: string[]]>> = {
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, `-${LAST_ENTRIES}`, '-1'],
  zset: (key) => ['ZRANGE', key, `-${LAST_ENTRIES}`, '-1', 'WITHSCORES'],
  set: (key) => ['SMEMBERS', key],
  stream: (key) => ['XREVRANGE', key, '+', '-', 'COUNT', LAST_ENTRIES],
  string: (key) => ['GET', key],
};

async function readKey(redis: Cluster, key: string): Promise<string> {
  const type = await redis.type(key);
  const command = READ[type]?.(key);
  return command === undefined ? type : JSON.stringify(await redis.call(...command));
}

async function readWorkflows(client: Client, sessionId: string): Promise<string[]> {
  const prefixes = ['run', 'end', 'call'].flatMap((kind) => [
    `${kind}:${sessionId}:`,
    `${kind}:${sessionId}.`,
  ]);
  const query = prefixes.map((prefix) => `WorkflowId STARTS_WITH '${prefix}'`).join(' OR ');
  const lines: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { status, historyLength, closeTime, raw } = await handle.describe();
    const { pendingActivities, pendingChildren, pendingWorkflowTask } = raw;
    lines.push(`\n### ${workflowId} ${status.name}, ${String(historyLength)} events`);
    lines.push(cut(plainText({ pendingActivities, pendingChildren, pendingWorkflowTask })));
    // A workflow that closed lately still shows what it waited for.
    if (closeTime && Date.now() - closeTime.getTime() > LATELY_MS) continue;
    const { events } = await handle.fetchHistory();
    for (const event of (events ?? []).slice(-LAST_EVENTS)) lines.push(cut(plainText(event)));
  }
  return lines;
}

/** Formats one of Temporal's messages, with readable payloads. */
function plainText(message: unknown): string {
  return JSON.stringify(message, (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
