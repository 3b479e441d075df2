import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../system/project.mjs';
import { startChildProcess } from './child-process.mjs';
import { environmentOfRole } from './settings.mjs';

// Prints a child's log: one prefixed line per entry, with JSON made readable. Users may control logged
// values, so these must neither add lines nor send control characters.
/** pino's error serializer puts this before each cause. */
const CAUSE = '\ncaused by: ';
const LEVELS = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };
// Constant for a process, or shown elsewhere in the line.
const OMITTED = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err']);
/** Fields of Temporal's SDK that a person cannot use or that repeat `err`. */
const OMITTED_OF_SDK = new Set(
  'sdkComponent taskToken isLocal namespace taskQueue activityId workflowRunId workflowType error'.split(
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

/** Formats a JSON log line as `level message key=value …`; returns other lines unchanged. Only a stack adds lines. */
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
  const { meta, ...own } = entry;
  const details = isOfSdk(meta)
    ? [...detailsOf(own, OMITTED), ...detailsOf(meta, OMITTED_OF_SDK)]
    : detailsOf(entry, OMITTED);
  const words = [LEVELS[entry.level] ?? entry.level, entry.msg, ...details];
  const trace = traceOf(entry.err ?? {});
  return [toPrintable(words.join(' ')), trace.split('\n').map(toPrintable).join('\n')]
    .filter(Boolean)
    .join(' ');
}

/** Tells the SDK's `meta` from a program's own, which is shown like other values. */
function isOfSdk(meta) {
  return (
    typeof meta === 'object' && meta !== null && ('sdkComponent' in meta || 'taskToken' in meta)
  );
}

/**
 * Returns a useful stack: an `ApplicationFailure`'s own shows where it was packed for Temporal, its causes'
 * show the fault.
 */
function traceOf({ type, stack, message = '' }) {
  if (type !== 'ApplicationFailure') return String(stack ?? message);
  const causes = String(stack ?? '')
    .split(CAUSE)
    .slice(1);
  return [message, ...causes].join(CAUSE);
}

function detailsOf(entry, omitted) {
  return Object.entries(entry)
    .filter(([key]) => !omitted.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

/** Escapes control characters and those that change the text direction. */
function toPrintable(text) {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0).toString(16);
    return { '\n': '\\n', '\t': ' ' }[character] ?? `\\u{${code}}`;
  });
}

// Streams create many short-lived objects. A larger young generation collects them cheaply, so the collector
// does not pause the worker in the middle of a token.
const NODE_OPTIONS = { worker: ['--max-semi-space-size=64'], api: [] };

/**
 * Starts dist/<role>/main.js. The IPC channel closes however this process dies, which tells the child to end.
 * The child sends `loaded` and `ready`.
 *
 * @param options.cwd folder of the process: relative paths in its settings start there
 * @param options.withholdsKeys true gives the process only the keys that the product's own code needs
 */
export function startNodeProcess(
  role,
  env,
  { cwd = projectRoot, withholdsKeys = true, write, onMessage } = {},
) {
  const output = write ? 'pipe' : 'inherit';
  const all = { ...process.env, ...env };
  const started = startChildProcess(process.execPath, [...NODE_OPTIONS[role], mainFile(role)], {
    cwd,
    env: withholdsKeys ? environmentOfRole(role, all) : all,
    stdio: ['ignore', output, output, 'ipc'],
  });
  if (onMessage) started.child.on('message', onMessage);
  if (write) {
    showLines(started.child.stdout, role, write);
    showLines(started.child.stderr, role, write);
  }
  return started;
}

function mainFile(role) {
  return join(projectRoot, 'dist', role, 'main.js');
}
