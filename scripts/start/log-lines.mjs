// Puts the log of a child on the screen: one prefixed line each, JSON made readable.
import { createInterface } from 'node:readline';

const LEVELS = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
// The same in every line of a process, or shown elsewhere in the line.
const OMITTED = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err']);

export function showLines(stream, name, write) {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
    write(`${name.padEnd(6)} │ ${readable(line)}\n`);
  });
}

/** A line of JSON log as `level message key=value …`; any other line as it is. */
export function readable(line) {
  if (!line.startsWith('{')) return line;
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry.msg !== 'string') return line;
  const details = Object.entries(entry)
    .filter(([key]) => !OMITTED.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = [LEVELS[entry.level] ?? entry.level, entry.msg, ...details];
  return [...words, entry.err?.stack ?? entry.err?.message].filter(Boolean).join(' ');
}
