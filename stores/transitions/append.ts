import { cjson, formatInt, redis, toNumber } from './lib/host.js';
import { closeLog, write, type Log } from './lib/log.js';
import { isTerminal, num } from './lib/root.js';

/** The hot path: positional, with five keys, one call for everything that came meanwhile. */
export type AppendReply = (number | string)[];

const APPENDED = 1;
/** Another attempt owns the writer. */
const FENCED = 2;
/** The run has ended, or another one owns the session. */
const SUPERSEDED = 3;
/** The stream is paused. */
const CLOSED = 4;
/** The store has less than the writer was told of, or lost a batch of it. */
const REWOUND = 5;

/** How many arguments stand before the messages. */
const FIXED = 8;

/**
 * append: adds messages under a claim. keys: root, stream, writers, channel, root of the
 * conversation, whose sequence all share. args: `append`, run, '*' for a writer of no run · writer · token ·
 * batch · now · known: highest sequence that the writer was told of · notes: which of the messages a
 * call's row keeps, see call-events · messages.
 *
 * @returns 1, sequence and 1 if the run is to stop; a batch seen before gives its first reply. Or one
 * of the codes above
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
  );
  if (root !== rootKey) {
    const shared = redis.call('HMGET', root, 'seq', 'logBytes');
    session[3] = shared[0] as string | false;
    session[5] = shared[1] as string | false;
  }
  const owner = redis.call('HMGET', writers, `t:${writer}`, `b:${writer}`, `s:${writer}`);
  const stop = session[2] === false ? 0 : 1;
  const last = owner[1] === false ? -1 : num(owner[1]);
  if (owner[0] === token && last >= toNumber(batch))
    return [APPENDED, num(owner[2] as string), stop];
  const seq = session[3] === false ? '0' : (session[3] as string);
  if (toNumber(seq) < toNumber(known)) return [REWOUND];
  if (run !== '*' && (session[0] !== run || isTerminal(session[1] as string))) return [SUPERSEDED];
  if (owner[0] !== token) return [FENCED];
  if (last !== toNumber(batch) - 1) return [REWOUND];
  if (run === '*' && session[4] === 'paused') return [CLOSED];
  const at = toNumber(seq);
  const bytesBefore = session[5] === false ? 0 : toNumber(session[5] as string);
  const log: Log = {
    stream,
    channel,
    root,
    before: at,
    seq: at,
    written: [],
    bytes: 0,
    bytesBefore,
  };
  const writerJson = cjson.encode(writer);
  for (let i = FIXED; i < args.length; i += 1) write(log, args[i] as string, writer, writerJson);
  closeLog(log, ['updated', now]);
  redis.call('HSET', writers, `b:${writer}`, batch, `s:${writer}`, log.seq);
  if (notes !== '') note(writers, writer, notes, log);
  return [APPENDED, log.seq, stop];
}

/** Adds to what a call's row keeps: `c<index>` or `p<index>` becomes the letter and the sequence. */
function note(writers: string, writer: string, notes: string, log: Log): void {
  const before = redis.call('HGET', writers, `e:${writer}`);
  // Of an attempt that began before there were notes all of the log is searched.
  if (before === false) return;
  const found: string[] = before === '' ? [] : [before];
  const first = log.seq - log.written.length + 1;
  for (const each of notes.split(' ')) {
    found.push(each.slice(0, 1) + formatInt(first + toNumber(each.slice(1))));
  }
  redis.call('HSET', writers, `e:${writer}`, found.join(' '));
}
