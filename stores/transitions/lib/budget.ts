import { byteLength, cjson, formatInt, redis } from './host.js';
import { num, storeNow } from './root.js';
import type { Session } from './session.js';

/**
 * The budget of attempts of a writer: each attempt that was taken over and had not handed over is counted,
 * with its token and the time, where the next one begins. A worker that lives hands over sooner or later,
 * and its attempt is forgiven.
 */
export interface Budget {
  /** Attempts that may be lost. */
  most: number;
  /** Only those of this long ago count, ms. */
  withinMs: number;
}

/** How often attempts of one writer are forgiven that were taken over while they lived. */
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

/** How many attempts count by now, whenever they were lost. */
export function lostOf(session: Session, writer: string): number {
  return readLost(session, writer, 0).length;
}

/** True if no attempt more may be made, the one that owns the writer counted. */
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

/** The owner hands over; a fault of the code counts nevertheless. */
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

/** An attempt that was taken over lives after all. */
export function forgive(session: Session, writer: string, token: number): void {
  const lost = readLost(session, writer, 0);
  const kept: string[] = [];
  for (const one of lost) if (!one.startsWith(`${formatInt(token)}:`)) kept.push(one);
  if (kept.length === lost.length) return;
  const forgiven = redis.call('HINCRBY', session.writers, `g:${writer}`, 1);
  if (forgiven > MOST_FORGIVEN) return;
  redis.call('HSET', session.writers, `l:${writer}`, kept.join(' '));
}

/** Bytes that a model said in an entry of the log; 0 for anything else. */
export function spokenBytes(json: string): number {
  if (
    !json.startsWith('{"type":"text_delta"') &&
    !json.startsWith('{"type":"tool_arg_stream_delta"') &&
    !json.startsWith('{"type":"thinking"')
  ) {
    return 0;
  }
  try {
    const { delta, content } = cjson.decode(json) as { delta?: unknown; content?: unknown };
    const said = delta ?? content;
    return typeof said === 'string' ? byteLength(said) : 0;
  } catch {
    return 0;
  }
}
