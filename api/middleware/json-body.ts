import { setImmediate as nextTick } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { bodyTooLarge, hasBody, readBody, type BodyBudget, type BodyShare } from './read-body.js';

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** A larger body is parsed in steps, between which other requests are served. */
const LARGE_BYTES = 256 * 1024;

const BOUNDS: JsonBounds = { depth: LIMITS.jsonDepth, values: LIMITS.jsonValues };

/**
 * Reads JSON bodies up to the limits of size, depth and number of values. `budget` bounds the bytes
 * that one sender may have in flight.
 */
export function createJsonBody(budget?: BodyBudget): RequestHandler {
  return async (request, _response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw bodyTooLarge();
    if (hasBody(request)) {
      refuseUnread(request);
      const share = await budget?.(request);
      try {
        const body = await readBody(request, LIMITS.bodyBytes, createBoundsCheck(share));
        request.body = await parse(body);
      } finally {
        share?.release();
      }
    }
    next();
  };
}

/** An unread body must not pass for an empty one: an abort would become an interrupt. */
function refuseUnread(request: Request): void {
  if (request.is(JSON_TYPES) === false) {
    throw unsupported('Send JSON as application/json.');
  }
  const type = request.get('content-type') ?? '';
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) {
    throw unsupported('The request body must be UTF-8.');
  }
}

function createBoundsCheck(share: BodyShare | undefined): (bytes: Buffer) => void {
  const measure = createJsonMeter(BOUNDS);
  return (bytes) => {
    share?.take(bytes.length);
    const excess = measure(bytes);
    if (excess === 'depth') throw invalid('The request body is nested too deeply.');
    if (excess === 'values') {
      throw new HelixError('body_too_large', 'The request body has too many JSON values.');
    }
  };
}

/** Parses a body that is an object or array; returns undefined for an empty one. */
async function parse(body: Buffer): Promise<unknown> {
  if (body.length === 0) return undefined;
  const rest = async (): Promise<void> => {
    if (body.length > LARGE_BYTES) await nextTick();
  };
  await rest();
  // This drops a byte order mark.
  const text = new TextDecoder().decode(body);
  await rest();
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) throw notJson();
  await rest();
  return value;
}

function parseJson(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

/**
 * Parses JSON with every lone surrogate replaced by U+FFFD, member names included. In UTF-8 they
 * occur as escapes only. A text that was cut within an emoji is no reason to refuse a conversation,
 * but it has no UTF-8 form, and the store cannot parse its JSON.
 */
export function parseWellFormed(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return /\\ud/i.test(text) ? toWellFormed(value) : value;
}

/** Changes arrays in place, and copies an object only if it has changed: a reviver would cost several times more. */
function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [at, inner] of value.entries()) value[at] = toWellFormed(inner);
    return value;
  }
  const members = Object.entries(value);
  const made = members.map(([name, inner]) => [name.toWellFormed(), toWellFormed(inner)] as const);
  const isSame = members.every(
    ([name, inner], at) => name === made[at]?.[0] && inner === made[at][1],
  );
  return isSame ? value : Object.fromEntries(made);
}

function notJson(cause?: unknown): HelixError {
  return invalid('The request body is not JSON.', cause);
}

function invalid(text: string, cause?: unknown): HelixError {
  return new HelixError('validation_error', text, { cause });
}

function unsupported(text: string): HelixError {
  return new HelixError('unsupported_media_type', text);
}

export interface JsonBounds {
  depth: number;
  /** Literals, strings, arrays and objects; member names do not count. */
  values: number;
}

/** Takes the next bytes of a JSON text; returns the bound that the text exceeds so far, if any. */
export type JsonMeter = (bytes: Uint8Array) => keyof JsonBounds | undefined;

/** Kinds of bytes outside of strings. */
const LITERAL = 0;
const BETWEEN = 1;
const QUOTE = 2;
const OPEN = 3;
const CLOSE = 4;
const COLON = 5;
const QUOTE_BYTE = 0x22;
const BACKSLASH = 0x5c;

const KINDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\r,')) KINDS[byte] = BETWEEN;
for (const byte of Buffer.from('[{')) KINDS[byte] = OPEN;
for (const byte of Buffer.from(']}')) KINDS[byte] = CLOSE;
KINDS[0x3a] = COLON;
KINDS[QUOTE_BYTE] = QUOTE;

/** Change of the depth, and of the number of values, by kind. */
const DEPTH = new Int8Array(6);
DEPTH[OPEN] = 1;
DEPTH[CLOSE] = -1;
const VALUES = new Int8Array(6).fill(1);
VALUES[CLOSE] = 0;
// The string before a colon was a member name.
VALUES[COLON] = -1;

/**
 * A meter for one JSON text in UTF-8. It scans bytes before anything is parsed: later code walks
 * values by recursion, and a list of small ones takes thirty times the memory of its text. Bytes that
 * are not JSON are left to the parser, which stops at them.
 */
export function createJsonMeter(bounds: JsonBounds): JsonMeter {
  let depth = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  let isInLiteral = false;

  /** Returns the index at which the current string ends, or the length if it continues. */
  function skipString(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    if (isEscaped && at < length) {
      isEscaped = false;
      at += 1;
    }
    for (; at < length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE_BYTE) break;
      if (byte === BACKSLASH) at += 1;
    }
    isInString = at >= length;
    // The escaped byte is the first of the next chunk.
    isEscaped = at > length;
    return at;
  }

  return (bytes) => {
    const { length } = bytes;
    let at = isInString ? skipString(bytes, 0) + 1 : 0;
    for (; at < length; at += 1) {
      const kind = KINDS[bytes[at] ?? 0] ?? LITERAL;
      if (kind === LITERAL && isInLiteral) continue;
      isInLiteral = kind === LITERAL;
      if (kind === BETWEEN) continue;
      depth += DEPTH[kind] ?? 0;
      values += VALUES[kind] ?? 0;
      if (kind === QUOTE) at = skipString(bytes, at + 1);
      if (depth > bounds.depth) return 'depth';
      if (values > bounds.values) return 'values';
    }
    return undefined;
  };
}
