import type { Request, RequestHandler, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { HelixError } from '../../protocol/errors.js';
import { createFairSlots } from '../../protocol/fair-slots.js';
import { LIMITS } from '../../protocol/limits.js';
import { maxFileBytes, type FileSettings } from '../file-settings.js';
import type { IdentityOptions } from '../identity.js';
import { createJsonBody } from './json-body.js';
import { createReadBudget, type CountRead } from './read-budget.js';
import type { ApiLogger } from './refusals.js';
import { createUploadBody, type BodyBudget } from './read-body.js';

/** Limits per sender: a user of a tenant, or an address without accounts. 0 means unlimited. */
export interface ApiLimits {
  /** Requests per minute that may change something. Default: 120. */
  requestsPerMinute?: number | undefined;
  /** Streams that are open at once, in each process. Default: 100. */
  openStreams?: number | undefined;
  /** Bytes of bodies in flight, in each process. Default: 64 MB, four of the largest. */
  bodyBytes?: number | undefined;
  /** Bytes of conversations and files read per minute, in each process. Default: 128 MB. */
  readBytesPerMinute?: number | undefined;
  /** Counts requests for several processes, see the stores of express-rate-limit. */
  store?: Store | undefined;
}

/** A page that posts in a loop sends eight a second; no person sends two a second for a minute. */
const REQUESTS_PER_MINUTE = 120;
const OPEN_STREAMS = 100;
const BODY_BYTES = 4 * LIMITS.bodyBytes;
/** Half of what one may store; an ordinary page has less than a hundredth of it. */
const READ_BYTES = 128 * 1024 * 1024;

const WINDOW_MS = 60_000;

/** `Retry-After` of a request that finds no free slot, s. */
const RETRY_SECONDS = 5;

type KeyOf = (request: Request) => Promise<string>;

/** Guards of routes; an undefined one means unlimited. */
export interface Limits {
  requests: RequestHandler | undefined;
  streams: RequestHandler | undefined;
  bodies: RequestHandler;
  uploads: RequestHandler;
  /** Counts the bytes that a request reads. */
  reads: ((request: Request, response: Response) => Promise<CountRead>) | undefined;
}

interface LimitsOptions extends IdentityOptions {
  limits?: ApiLimits | undefined;
  files?: FileSettings | undefined;
  logger: ApiLogger;
}

/** Creates the limits of an app. Without accounts only limits that the options set apply. */
export function createLimits(
  { authenticate, limits = {}, files, logger }: LimitsOptions,
  keyOf: KeyOf,
): Limits {
  const byDefault = (value: number): number => (authenticate === undefined ? 0 : value);
  const perMinute = limits.requestsPerMinute ?? byDefault(REQUESTS_PER_MINUTE);
  const openStreams = limits.openStreams ?? byDefault(OPEN_STREAMS);
  const bodyBytes = limits.bodyBytes ?? byDefault(BODY_BYTES);
  const readBytes = limits.readBytesPerMinute ?? byDefault(READ_BYTES);
  const budget = bodyBytes > 0 ? createBodyBudget(bodyBytes, keyOf) : undefined;
  const onStoreError = (err: unknown): void => {
    logger.warn({ err }, 'requests cannot be counted');
  };
  return {
    requests:
      perMinute > 0
        ? rateLimit({
            windowMs: WINDOW_MS,
            limit: perMinute,
            keyGenerator: keyOf,
            standardHeaders: 'draft-8',
            legacyHeaders: false,
            identifier: 'requests',
            // An outage of the counter must not become an outage of the API.
            passOnStoreError: true,
            logger: { error: onStoreError, warn: onStoreError },
            handler: () => {
              throw tooManyRequests('Too many requests; wait a little.');
            },
            store: limits.store,
          })
        : undefined,
    streams: openStreams > 0 ? createStreamSlots(openStreams, keyOf) : undefined,
    bodies: createJsonBody(budget),
    uploads: createUploadBody(maxFileBytes(files), budget),
    reads: readBytes > 0 ? createReads(readBytes, keyOf) : undefined,
  };
}

/**
 * Refuses a sender's requests that may become streams above a number of open ones in this process. A
 * request takes its slot before its route decides anything, so a refusal begins no run, and frees it
 * when its response closes, for whatever reason.
 */
function createStreamSlots(perUser: number, keyOf: KeyOf): RequestHandler {
  const slots = createFairSlots({ total: Infinity, perUser, waiting: 0 });
  return async (request, response, next) => {
    const free = await slots.take(await keyOf(request), 0);
    if (free === undefined) {
      response.set('retry-after', String(RETRY_SECONDS));
      throw new HelixError('too_many_streams', 'Too many open streams; close some.');
    }
    // A response that is closed already emits no `close` that would free the slot.
    if (response.destroyed) {
      free();
      return;
    }
    response.once('close', free);
    next();
  };
}

/** Bounds the unpacked bytes of bodies that one sender has in flight, in this process. */
function createBodyBudget(limit: number, keyOf: KeyOf): BodyBudget {
  const taken = new Map<string, number>();
  return async (request) => {
    const key = await keyOf(request);
    let own = 0;
    const change = (by: number): void => {
      own += by;
      const all = (taken.get(key) ?? 0) + by;
      if (all === 0) taken.delete(key);
      else taken.set(key, all);
    };
    return {
      take: (bytes) => {
        if ((taken.get(key) ?? 0) + bytes > limit) {
          throw tooManyRequests('Too much is being sent at once; wait a little.');
        }
        change(bytes);
      },
      release: () => {
        change(-own);
      },
    };
  };
}

function createReads(perMinute: number, keyOf: KeyOf): NonNullable<Limits['reads']> {
  const budget = createReadBudget(perMinute);
  return async (request, response) => {
    const left = new AbortController();
    response.once('close', () => {
      left.abort();
    });
    return budget({
      key: await keyOf(request),
      signal: left.signal,
      hasBegun: () => response.headersSent,
      onRefusal: (seconds) => response.set('retry-after', String(seconds)),
    });
  };
}

/** Limit per address, since a webhook has no caller. */
const WEBHOOKS_PER_MINUTE = 600;

export function createWebhookRate(limit = WEBHOOKS_PER_MINUTE): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit,
    standardHeaders: true,
    legacyHeaders: false,
    handler: () => {
      throw tooManyRequests('Too many requests to webhooks from this address.');
    },
  });
}

function tooManyRequests(text: string): HelixError {
  return new HelixError('too_many_requests', text);
}
