import { cjson, redis } from './lib/host.js';

/**
 * read page: entries of a log after a sequence, joined into one string: a client parses a nested
 * reply far more slowly than Redis joins it.
 *
 * Keys: stream, root. Arguments: `readPage`, sequence (exclusive), limit.
 *
 * @returns three lines for each entry: id, writer and message. Stored JSON contains no line breaks,
 * so a corrupt entry shows up as a malformed id. Then the sequence of the stream ('0' if it does
 * not exist) and the run id of the Redis server ('' if the caller may not read it)
 */
export function readPage(keys: readonly string[], args: readonly string[]): string[] {
  const lines: string[] = [];
  const from = `(${args[1] as string}-0`;
  const entries = redis.call('XRANGE', keys[0] as string, from, '+', 'COUNT', args[2] as string);
  for (const [id, fields] of entries) lines.push(id, onOneLine(fields[1] ?? ''), fields[3] ?? '');
  const seq = redis.call('HGET', keys[1] as string, 'seq');
  return [lines.join('\n'), seq === false ? '0' : seq, serverRun()];
}

/** The id of a call may contain line breaks; such a writer is written as JSON. */
function onOneLine(writer: string): string {
  return writer.includes('\n') || writer.startsWith('"') ? cjson.encode(writer) : writer;
}

function serverRun(): string {
  const info = redis.pcall('INFO', 'server');
  if (typeof info !== 'string') return '';
  const at = info.indexOf('run_id:');
  return at < 0 ? '' : info.slice(at + 7, at + 47);
}
