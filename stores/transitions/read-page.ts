import { cjson, redis } from './lib/host.js';

/**
 * read page: entries of a log after a position, as one string: a client takes far longer over a
 * nested reply than Redis takes to join it. keys: stream, root. args: `readPage`,
 * sequence (exclusive), limit.
 *
 * @returns id, writer and message of each entry, by lines (what is stored as JSON has no line breaks,
 * so anything else shows in the ids); the sequence of the stream, '0' if there is none; and which run
 * of the server's process this is, '' if the caller may not know
 */
export function readPage(keys: readonly string[], args: readonly string[]): string[] {
  const lines: string[] = [];
  const from = `(${args[1] as string}-0`;
  const entries = redis.call('XRANGE', keys[0] as string, from, '+', 'COUNT', args[2] as string);
  for (const [id, fields] of entries) lines.push(id, onOneLine(fields[1] ?? ''), fields[3] ?? '');
  const seq = redis.call('HGET', keys[1] as string, 'seq');
  return [lines.join('\n'), seq === false ? '0' : seq, serverRun()];
}

/** The id of a call may have line breaks: then its writer is given as JSON. */
function onOneLine(writer: string): string {
  return writer.includes('\n') || writer.startsWith('"') ? cjson.encode(writer) : writer;
}

function serverRun(): string {
  const info = redis.pcall('INFO', 'server');
  if (typeof info !== 'string') return '';
  const at = info.indexOf('run_id:');
  return at < 0 ? '' : info.slice(at + 7, at + 47);
}
