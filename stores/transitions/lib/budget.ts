import { byteLength, cjson, formatInt, redis } from './host.js';
import { isShort, textOf } from './entries.js';
import { num, storeNow } from './root.js';
import type { Session } from './session.js';

/**
 * Budget of lost attempts of a writer. When an attempt is taken over without having handed over, it
 * is counted with its token and the time. A worker that is still alive hands over eventually, and
 * its attempt is then forgiven.
 */
export interface Budget {
  /** Number of attempts that may be lost. */
  most: number;
  /** Only attempts lost within this time count, ms. */
  withinMs: number;
}

/** Limit on how many attempts of one writer are forgiven. */
const MOST_FORGIVEN = 20;

/** Tokens of the attempts that count, as `<token>:<ms since the epoch>`. */
function readLost(session: Session, writer: string, sinceMs: number): string[] {
  const stored = redis.call('HGET', session.writers, `l:${writer}`);
  const lost: string[] = [];
  if (stored === false || stored === '') return lost;
  for (const one of stored.split(' ')) {
    if (num(one.slice(one.indexOf(':') + 1)) >= sinceMs) lost.push(one);
  }
  return lost;
}

/** Counts the owner that is being taken over, unless it has handed over. */
export function countLost(
  session: Session,
  writer: string,
  token: number,
  { withinMs }: Budget,
): void {
  const now = storeNow();
  const lost = readLost(session, writer, now - withinMs);
  const handedOver = redis.call('HGET', session.writers, `h:${writer}`);
  if (handedOver === false || num(handedOver) !== token) {
    lost.push(`${formatInt(token)}:${formatInt(now)}`);
  }
  redis.call('HSET', session.writers, `l:${writer}`, lost.join(' '));
}

/** Number of lost attempts, whenever they were lost. */
export function lostOf(session: Session, writer: string): number {
  return readLost(session, writer, 0).length;
}

/** True if no further attempt may be made, counting the current owner as lost. */
export function isExhausted(
  session: Session,
  writer: string,
  token: number,
  { most, withinMs }: Budget,
): boolean {
  const lost = readLost(session, writer, storeNow() - withinMs);
  const handedOver = redis.call('HGET', session.writers, `h:${writer}`);
  const isLost = handedOver === false || num(handedOver) !== token;
  return lost.length + (isLost ? 1 : 0) >= most;
}

/** The owner hands over; a fault of our code still counts as a lost attempt. */
export function noteHandOver(
  session: Session,
  writer: string,
  token: number,
  isFault: boolean,
): void {
  const lost = readLost(session, writer, 0);
  if (isFault) lost.push(`${formatInt(token)}:${formatInt(storeNow())}`);
  const noted = [`h:${writer}`, formatInt(token), `l:${writer}`, lost.join(' ')];
  redis.call('HSET', session.writers, ...noted);
}

/** An attempt that was taken over is still alive, so it does not count as lost. */
export function forgive(session: Session, writer: string, token: number): void {
  const lost = readLost(session, writer, 0);
  const kept: string[] = [];
  for (const one of lost) if (!one.startsWith(`${formatInt(token)}:`)) kept.push(one);
  if (kept.length === lost.length) return;
  const forgiven = redis.call('HINCRBY', session.writers, `g:${writer}`, '1');
  if (forgiven > MOST_FORGIVEN) return;
  redis.call('HSET', session.writers, `l:${writer}`, kept.join(' '));
}

/** Bytes of model output in a log entry; 0 for any other entry. */
export function spokenBytes(json: string): number {
  if (isShort(json)) return byteLength(textOf(json));
  if (
    !json.startsWith('{"type":"text_delta"') &&
    !json.startsWith('{"type":"tool_arg_stream_delta"') &&
    !json.startsWith('{"type":"thinking"')
  ) {
    return 0;
  }
  try {
    const { delta, content } = cjson.decode(json) as { delta?: unknown; content?: unknown };
    const spoken = delta ?? content;
    return typeof spoken === 'string' ? byteLength(spoken) : 0;
  } catch {
    return 0;
  }
}
