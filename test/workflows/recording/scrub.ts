import { hostname } from 'node:os';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { History } from './stage.js';

/** Fields that no replay reads. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'taskId',
  'requestId',
  'workerVersion',
  'meteringMetadata',
  'sourceVersionStamp',
]);

/** Replacements that keep author and place of a recording private. */
const REPLACED: Record<string, string> = { identity: 'recorder', stackTrace: '' };

/** Writes a history as text, one event a line, without traces of the recording machine. */
export function scrub(history: History): string {
  const { events } = JSON.parse(historyToJSON(history), (key, value: unknown) => {
    if (LEFT_OUT.has(key)) return undefined;
    if (key === 'taskQueue') return { ...(value as object), name: 'recorded' };
    return typeof value === 'string' ? (REPLACED[key] ?? value) : value;
  }) as { events: object[] };
  const lines = events.map((event) => JSON.stringify(event));
  return `{"events":[\n${lines.join(',\n')}\n]}\n`;
}

/** Finds a machine's traces in a history: the author, the host name, absolute paths. */
export function tracesIn(json: string): string[] {
  const traces: string[] = [];
  JSON.parse(json, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    const text = key === 'data' ? Buffer.from(value, 'base64').toString() : value;
    const isIdentity = key === 'identity' && text !== 'recorder';
    const isMachine = text.includes(`@${hostname()}`);
    const isPath = /(^|[^\w:/])\/(home|root|tmp|usr|var|Users|work)\b|file:\/\//.test(text);
    if (isIdentity || isMachine || isPath) traces.push(`${key}: ${text}`);
    return value;
  });
  return traces;
}
