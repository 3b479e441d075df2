import http from 'node:http';
import https from 'node:https';
import { guardedLookup, isPermittedUrl } from '../../agents/guarded-lookup.js';

/** A failed attempt to deliver a notice. Its message contains no secrets of the settings. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
  readonly code: string;
  /** Pause that the receiver asked for, ms. */
  readonly retryAfterMs: number | undefined;
  /** True if no further attempt can succeed. */
  readonly isFinal: boolean;

  constructor(
    code: string,
    message: string,
    options: { retryAfterMs?: number | undefined; isFinal?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.isFinal = options.isFinal ?? false;
  }
}

/** Limit for the whole request, from connecting to the end of the answer. */
const ANSWER_MS = 15_000;
/** No more of an answer is read, since only its status counts. */
const ANSWER_BYTES = 64 * 1024;
const MAX_RETRY_AFTER_MS = 10 * 60 * 60_000;

export interface PostOptions {
  headers?: Record<string, string>;
  body: string;
  /** True if addresses of private networks are permitted. */
  privateNetwork: boolean;
  /** Aborts the attempt. */
  signal?: AbortSignal | undefined;
}

/**
 * Posts JSON to a receiver. The address is checked on connecting, redirects are not followed, and time
 * and bytes are bounded.
 *
 * @throws NotDelivered unless the answer is 2xx; final for 410 and an address that is refused
 */
export async function post(to: string, options: PostOptions): Promise<void> {
  const { headers, body, privateNetwork, signal } = options;
  const url = new URL(to);
  const rule = { isNamed: privateNetwork, isPrivate: privateNetwork };
  if (!isPermittedUrl(url, rule)) throw refusedAddress();
  const over = AbortSignal.timeout(ANSWER_MS);
  const { request } = url.protocol === 'https:' ? https : http;
  const { status, retryAfter } = await new Promise<{
    status: number;
    retryAfter: string | undefined;
  }>((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'helix-temporal',
          'content-length': String(Buffer.byteLength(body)),
          ...headers,
        },
        agent: false,
        lookup: guardedLookup(rule, refusedAddress),
        signal: signal === undefined ? over : AbortSignal.any([over, signal]),
      },
      (answer) => {
        const done = (): void => {
          resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] });
          sent.destroy();
        };
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES) done();
        });
        // The status counts even if the body breaks off or has no end.
        answer.on('end', done).on('error', done).on('close', done);
        sent.off('error', reject).on('error', done);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  }).catch((cause: unknown) => {
    if (cause instanceof NotDelivered) throw cause;
    throw over.aborted
      ? new NotDelivered('no_answer', 'The receiver did not answer in time.', { cause })
      : new NotDelivered('unreachable', 'The receiver cannot be reached.', { cause });
  });
  if (status >= 200 && status < 300) return;
  const text = `The receiver answered ${String(status)}.`;
  if (status >= 300 && status < 400) throw new NotDelivered('redirect_refused', text);
  throw new NotDelivered(`http_${String(status)}`, text, {
    retryAfterMs: readRetryAfter(retryAfter, Date.now()),
    isFinal: status === 410,
  });
}

function refusedAddress(): NotDelivered {
  const text = 'Its address is of a private network, which its settings do not permit.';
  return new NotDelivered('address_refused', text, { isFinal: true });
}

/** Parses `Retry-After`, seconds or a date, into bounded ms from now. Pure. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const isDate = /^[A-Za-z]{3}/.test(value);
  const ms = isDate ? Date.parse(value) - now : Number(value) * 1_000;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
