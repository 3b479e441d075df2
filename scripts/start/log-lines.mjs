// Prints the log of a child: one prefixed line for each entry, JSON made readable. Logged values
// may come from users, so they must neither add lines nor send control characters to the terminal.
import { createInterface } from 'node:readline';

const LEVELS = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
// The same in every line of a process, or shown elsewhere in the line.
const OMITTED = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err', 'meta']);
/** Of what Temporal's SDK says about an activity: all that a person cannot use. */
const OMITTED_OF_SDK = new Set(
  'sdkComponent taskToken isLocal namespace taskQueue activityId workflowRunId workflowType'.split(
    ' ',
  ),
);

export function showLines(stream, name, write) {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
    const [first, ...more] = readable(line).split('\n');
    const rest = more.map((text) => `${' '.repeat(6)} ┆ ${text}\n`);
    write(`${name.padEnd(6)} │ ${first}\n${rest.join('')}`);
  });
}

/**
 * A line of JSON log as `level message key=value …`; any other line as it is. Only a stack has
 * more lines than one.
 */
export function readable(line) {
  const plain = toPrintable(line);
  if (!line.startsWith('{')) return plain;
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return plain;
  }
  if (typeof entry.msg !== 'string') return plain;
  const details = [...detailsOf(entry, OMITTED), ...detailsOf(entry.meta, OMITTED_OF_SDK)];
  const words = [LEVELS[entry.level] ?? entry.level, entry.msg, ...details];
  const { type, stack, message } = entry.err ?? {};
  // The stack of such a failure is where it was packed for Temporal, not where something went wrong.
  const trace = String((type === 'ApplicationFailure' ? message : stack) ?? message ?? '');
  return [toPrintable(words.join(' ')), trace.split('\n').map(toPrintable).join('\n')]
    .filter(Boolean)
    .join(' ');
}

function detailsOf(entry, omitted) {
  if (typeof entry !== 'object' || entry === null) return [];
  return Object.entries(entry)
    .filter(([key]) => !omitted.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

/** Control characters as they are written in a program, and those that turn the text around. */
function toPrintable(text) {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0).toString(16);
    return { '\n': '\\n', '\t': ' ' }[character] ?? `\\u{${code}}`;
  });
}
