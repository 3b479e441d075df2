import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { z } from 'zod';
import { ANONYMOUS, type Caller } from '../ai-sdk/index.js';
import { readVia, ROLES, type Actor, isVisitorName, toVisitorName } from '../protocol/actor.js';
import { HelixError } from '../protocol/errors.js';
import { HEADERS } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';

/** The caller of a request, and how long that identity is valid. */
export interface Identity extends Caller {
  /** Further tenants on which the caller may act as an operator; `*` means all. */
  tenants?: readonly string[];
  /** ms since the epoch; replies that are still being sent are cut then. */
  expiresAt?: number;
  /**
   * Reports an early revocation, such as a sign-out: a signal, or a function that is called on each
   * request and every 10 s during a reply. A reply in progress is cut then.
   */
  revoked?: AbortSignal | (() => boolean | Promise<boolean>);
}

/**
 * Returns the caller of a request, or undefined to refuse it. It runs before the body is read. An
 * error that it throws, or a field of another type, is a fault (500), unless the error is a
 * HelixError: `unavailable` asks to try again.
 */
export type Authenticate = (
  request: Request,
) => Identity | undefined | Promise<Identity | undefined>;

/** Returns the caller; a request is authenticated once. @throws HelixError `unauthorized` */
export type ReadIdentity = (request: Request) => Promise<Identity>;

/** The caller on a server without sign-in, which cannot demand a second person. */
const EVERYONE: Identity = { userId: ANONYMOUS, roles: ROLES, isEveryone: true };

export interface IdentityOptions {
  authenticate?: Authenticate | undefined;
  /** True makes every caller the same user. Required without `authenticate`. */
  allowUnauthenticated?: boolean | undefined;
}

/** @throws Error if `authenticate` is missing and `allowUnauthenticated` is not set */
export function createIdentityReader(options: IdentityOptions): ReadIdentity {
  const { authenticate, allowUnauthenticated = false } = options;
  if (authenticate === undefined && !allowUnauthenticated) {
    throw new Error('createApi needs `authenticate`, or `allowUnauthenticated: true`.');
  }
  if (authenticate === undefined) return () => Promise.resolve(EVERYONE);
  const known = new WeakMap<Request, Promise<Identity>>();
  return (request) => {
    const caller = known.get(request) ?? identify(authenticate, request);
    known.set(request, caller);
    return caller;
  };
}

/** Fields that decide about rights. In a text, `includes` would find parts of other tenants' names. */
const Rights = z.object({
  userId: z.string(),
  tenantId: z.string().optional(),
  personId: z.string().optional(),
  roles: z.array(z.string()).optional(),
  tenants: z.array(z.string()).optional(),
  isEveryone: z.boolean().optional(),
  revoked: z
    .union([z.instanceof(AbortSignal), z.custom((it) => typeof it === 'function')])
    .optional(),
});

async function identify(authenticate: Authenticate, request: Request): Promise<Identity> {
  const caller = await authenticate(request);
  if (!caller?.userId) throw new HelixError('unauthorized', 'Sign in first.');
  const { error } = Rights.safeParse(caller);
  if (error !== undefined) {
    const cause = new Error(`\`authenticate\` returned no identity: ${z.prettifyError(error)}`);
    throw new HelixError('internal_error', 'Something went wrong on our side.', { cause });
  }
  if (await hasEnded(caller)) throw new HelixError('unauthorized', 'Sign in again.');
  // Names of this form belong to operators from other tenants.
  if (isVisitorName(caller.userId)) {
    throw new HelixError('unauthorized', 'The name of this user is reserved.');
  }
  // Stores replace half a character, so two such names would be one user, and one person two.
  const { userId, tenantId = '', personId = '' } = caller;
  if (![userId, tenantId, personId].every((name) => name.isWellFormed())) {
    throw new HelixError('unauthorized', 'The name of this user is malformed.');
  }
  return caller;
}

async function hasEnded({ expiresAt = Infinity, revoked }: Identity): Promise<boolean> {
  // NaN counts as expired.
  if (!(expiresAt > Date.now())) return true;
  return typeof revoked === 'function' ? revoked() : revoked?.aborted === true;
}

/** Returns the key by which limits count requests: the user, or the address without accounts. */
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

/** Returns the person and channel of a request, for the audit trail. */
export function toActor({ request, caller }: { request: Request; caller: Identity }): Actor & {
  by: string;
} {
  const { userId: by, roles, personId } = caller;
  return { by, roles, personId, via: readVia(request.get(HEADERS.via)) };
}

const OPERATORS = '/api/operator/';
const ALL = '*';

/**
 * Reads the caller. An operator whose identity names further tenants may choose one of them by
 * `x-helix-tenant`, on operator routes only: a chat always belongs to the caller's own tenant.
 *
 * @throws HelixError `unauthorized`; `not_allowed` for a tenant that the caller may not choose
 */
export async function readCaller(
  { readIdentity }: { readIdentity: ReadIdentity },
  request: Request,
): Promise<Identity> {
  const identity = await readIdentity(request);
  const sent = request.get(HEADERS.tenant);
  if (sent === undefined || !request.path.startsWith(OPERATORS)) return identity;
  return inTenant(identity, decode(sent));
}

/**
 * Returns the caller as an operator of a tenant, under a name that no user there has.
 *
 * @throws HelixError `not_allowed`
 */
export function inTenant(identity: Identity, tenantId: string | undefined): Identity {
  if (tenantId === identity.tenantId && tenantId !== undefined) return identity;
  const { tenants = [] } = identity;
  const isChosen = tenantId !== undefined && tenantId !== ALL;
  if (!isChosen || !(tenants.includes(ALL) || tenants.includes(tenantId))) {
    throw new HelixError('not_allowed', 'You may not act on this tenant.');
  }
  const userId = toVisitorName(identity);
  return { ...identity, tenantId, userId };
}

/** Returns undefined if the text names no tenant. */
function decode(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return name.length > 0 && name.length <= LIMITS.idChars ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Base64url characters of a hash: 132 bits. */
const PERSON_CHARS = 22;

/**
 * Hashes a person's claim, which may be an e-mail address and is stored with other people's
 * conversations. Without an issuer the claim names people for all issuers.
 */
export function personIdOf(person: string, issuer?: string): string {
  const name = JSON.stringify([person, issuer]);
  return createHash('sha256').update(name).digest('base64url').slice(0, PERSON_CHARS);
}
