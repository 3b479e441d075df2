import type { Request } from 'express';
import { ANONYMOUS, type Caller } from '../ai-sdk/index.js';
import { HelixError } from '../protocol/errors.js';

/** Tells who sends a request; undefined refuses it. */
export type Authenticate = (request: Request) => Caller | undefined | Promise<Caller | undefined>;

/** Who sends this request. @throws HelixError `unauthorized` */
export type ReadIdentity = (request: Request) => Promise<Caller>;

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
  return async (request) => {
    if (authenticate === undefined) return readAnonymous(request);
    const caller = await authenticate(request);
    if (caller === undefined) throw new HelixError('unauthorized', 'Sign in first.');
    return caller;
  };
}

/** Without accounts, at least no other site may act through a visitor's browser. */
function readAnonymous(request: Request): Caller {
  if (request.method !== 'GET' && request.get('sec-fetch-site') === 'cross-site') {
    throw new HelixError('unauthorized', 'Requests from other sites need an account.');
  }
  return { userId: ANONYMOUS };
}
