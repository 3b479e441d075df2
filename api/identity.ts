import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { ANONYMOUS, type Caller } from '../ai-sdk/index.js';
import { HelixError } from '../protocol/errors.js';

/** Who sends a request, and until when that can be taken for granted. */
export interface Identity extends Caller {
  /** Ms since the epoch; streams without an end of their own are cut then. */
  expiresAt?: number;
  /** Aborts when it is taken back before that, as by a sign-out: open streams are cut. */
  revoked?: AbortSignal;
}

/**
 * Tells who sends a request; undefined refuses it. Is asked before the body is read. What it throws
 * is a fault (500), unless it is a HelixError: `unavailable` says that it can be tried again.
 */
export type Authenticate = (
  request: Request,
) => Identity | undefined | Promise<Identity | undefined>;

/** Who sends this request; asked once for each. @throws HelixError `unauthorized` */
export type ReadIdentity = (request: Request) => Promise<Identity>;

export interface IdentityOptions {
  authenticate?: Authenticate | undefined;
  /** Everybody is the same user. Has to be said out loud. */
  allowUnauthenticated?: boolean | undefined;
}

/**
 * The authenticator of an app.
 *
 * @throws Error if there is none and nobody said that none is wanted
 */
export function createIdentityReader(options: IdentityOptions): ReadIdentity {
  const { authenticate, allowUnauthenticated = false } = options;
  if (authenticate === undefined && !allowUnauthenticated) {
    throw new Error('createApi needs `authenticate`, or `allowUnauthenticated: true`.');
  }
  if (authenticate === undefined) return () => Promise.resolve({ userId: ANONYMOUS });
  const known = new WeakMap<Request, Promise<Identity>>();
  return (request) => {
    const caller = known.get(request) ?? identify(authenticate, request);
    known.set(request, caller);
    return caller;
  };
}

async function identify(authenticate: Authenticate, request: Request): Promise<Identity> {
  const caller = await authenticate(request);
  if (!caller?.userId) throw new HelixError('unauthorized', 'Sign in first.');
  return caller;
}

/** What requests are counted by: who sends them, or without accounts where they come from. */
export function createCountKey(
  options: IdentityOptions,
  readIdentity: ReadIdentity,
): (request: Request) => Promise<string> {
  return async (request) => {
    if (options.authenticate === undefined) return `ip ${ipKeyGenerator(request.ip ?? '')}`;
    const { userId, tenantId = '' } = await readIdentity(request);
    return `user ${JSON.stringify([tenantId, userId])}`;
  };
}
