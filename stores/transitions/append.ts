import { cjson, formatInt, redis, toNumber } from './lib/host.js';
import { isNewer } from './lib/layout.js';
import { publish, write, type Entries } from './lib/log.js';
import { isTerminal, num } from './lib/root.js';

/**
 * The hot path: positional arguments and only five keys; one call carries all messages that were
 * written since the previous call.
 */
export type AppendReply = (number | string)[];

const APPENDED = 1;
/** Another attempt owns the writer. */
const FENCED = 2;
/** The run has ended, or another run owns the session. */
const SUPERSEDED = 3;
/** The stream is paused. */
const CLOSED = 4;
/**
 * The store is older than what it had confirmed to the writer, or has lost one of the writer's
 * batches.
 */
const REWOUND = 5;
/** A newer build has laid out the record. */
const NEWER = 6;

/** Number of arguments before the messages. */
const FIXED = 8;

/**
 * append: adds a batch of messages to the log for the writer's current owner.
 *
 * Keys: root, stream, writers, channel, and the root of the conversation, which numbers the entries
 * of all its sessions. Arguments: `append` · run, or '*' for a writer without a run · writer ·
 * token · batch · now · known, the highest sequence that the writer has seen · notes, which of the
 * messages the call's row keeps (see lib/call-events) · messages.
 *
 * Checks, in this order: the batch was stored before (returns its first reply) · a newer build has
 * laid out the record · the store is older than `known` · the run is over or superseded · another attempt owns the writer · a batch is
 * missing before this one · the stream of a writer without a run is paused.
 *
 * @returns [1, sequence, 1 if a stop was requested else 0], or one of the codes above
 */
export function append(keys: readonly string[], args: readonly string[]): AppendReply {
  const [rootKey, stream, writers, channel, root] = keys as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [, run, writer, token, batch, now, known, notes] = args as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const session = redis.call(
    'HMGET',
    rootKey,
    'run',
    'status',
    'stop',
    'seq',
    'stream',
    'logBytes',
    'layout',
  );
  if (root !== rootKey) {
    const shared = redis.call('HMGET', root, 'seq', 'logBytes', 'layout');
    session[3] = shared[0] as string | false;
    session[5] = shared[1] as string | false;
    session[6] = shared[2] as string | false;
  }
  // Each text, and each number of a text, is made once: it costs Redis as much as reading a field.
  const [ofBatch, ofSequence] = [`b:${writer}`, `s:${writer}`];
  const owner = redis.call('HMGET', writers, `t:${writer}`, ofBatch, ofSequence);
  const stop = session[2] === false ? 0 : 1;
  const last = owner[1] === false ? -1 : num(owner[1]);
  const next = toNumber(batch);
  if (owner[0] === token && last >= next) return [APPENDED, num(owner[2] as string), stop];
  if (session[6] !== false && isNewer(session[6] as string)) return [NEWER];
  const at = session[3] === false ? 0 : num(session[3]);
  if (at < toNumber(known)) return [REWOUND];
  if (run !== '*' && (session[0] !== run || isTerminal(session[1] as string))) return [SUPERSEDED];
  if (owner[0] !== token) return [FENCED];
  if (last !== next - 1) return [REWOUND];
  if (run === '*' && session[4] === 'paused') return [CLOSED];
  const bytesBefore = session[5] === false ? 0 : toNumber(session[5] as string);
  const log: Entries = { stream, channel, before: at, seq: at, written: [], bytes: 0 };
  const writerJson = cjson.encode(writer);
  for (let i = FIXED; i < args.length; i += 1) write(log, args[i] as string, writer, writerJson);
  const newest = formatInt(log.seq);
  const logBytes = formatInt(bytesBefore + log.bytes);
  redis.call('HSET', root, 'seq', newest, 'logBytes', logBytes, 'updated', now);
  publish(log);
  redis.call('HSET', writers, ofBatch, batch, ofSequence, newest);
  if (notes !== '') note(writers, writer, notes, log);
  return [APPENDED, log.seq, stop];
}

/**
 * Adds to what the call's row keeps: `c<index>` and `p<index>` become the letter and the sequence.
 */
function note(writers: string, writer: string, notes: string, log: Entries): void {
  const before = redis.call('HGET', writers, `e:${writer}`);
  const found: string[] = before === false || before === '' ? [] : [before];
  const first = log.seq - log.written.length + 1;
  for (const each of notes.split(' ')) {
    found.push(each.slice(0, 1) + formatInt(first + toNumber(each.slice(1))));
  }
  redis.call('HSET', writers, `e:${writer}`, found.join(' '));
}
