import { createPublicKey } from 'node:crypto';
import type { Request } from 'express';
import type * as jose from 'jose';
import { personIdOf, readCookie, type Authenticate, type Identity } from '../../api/extension.js';
import { ROLES, type Role } from '../../protocol/actor.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { openKeySet } from './key-set.js';
import { loadJose } from './load-jose.js';

/** Claims of a token. A type of `jose` would bind programs without that package to it. */
export interface TokenClaims {
  [claim: string]: unknown;
  iss?: string;
  sub?: string;
  aud?: string | string[];
  jti?: string;
  nbf?: number;
  exp?: number;
  iat?: number;
}

export interface JwtOptions {
  /** Shared secret of at least 32 bytes, for HMAC. Exactly one of `secret`, `publicKey`, `jwksUrl`. */
  secret?: string | undefined;
  /** Public key as PEM (SPKI) or certificate. */
  publicKey?: string | undefined;
  /**
   * URL of the issuer's key set. It is fetched again after ten minutes and for an unknown key. While
   * that fails, the known keys count for an hour.
   */
  jwksUrl?: string | undefined;
  /** Required `iss` claim. Default: any issuer that has the key. */
  issuer?: string | readonly string[] | undefined;
  /** Required `aud` claim. Set it if the issuer serves other applications as well. */
  audience?: string | readonly string[] | undefined;
  /** Default: HMAC with a secret, signatures otherwise; the two are never mixed. */
  algorithms?: readonly string[] | undefined;
  /** Tolerated clock difference, s. Default: 5. */
  clockToleranceSeconds?: number | undefined;
  /** Claim that names the user. Default: `sub`. */
  userClaim?: string | undefined;
  /**
   * Claim that names the person across tenants and issuers; tokens must have it. Default: issuer
   * and user together name one person.
   */
  personClaim?: string | undefined;
  /** Claim that names the tenant; optional in a token. Default: `tenant_id`. */
  tenantClaim?: string | undefined;
  /**
   * Claim that lists the tenants on which the user may act as an operator: a list, or words in one
   * text; `*` means all. Default: none.
   */
  tenantsClaim?: string | undefined;
  /**
   * Claim with the user's roles, a list or words in one text: a name, or a path such as
   * `realm_access.roles`. Default: `roles`.
   */
  rolesClaim?: string | undefined;
  /** Names of the roles in the token. Default: the same names. */
  roleNames?: Partial<Record<Role, string | undefined>> | undefined;
  /** Cookie with the token of requests without an `Authorization` header. Default: none. */
  cookie?: string | undefined;
  /**
   * Returns true if the token with these verified claims was revoked. Called on each request, and
   * every 10 s during a reply. Default: no token was.
   */
  revoked?: ((claims: TokenClaims) => boolean | Promise<boolean>) | undefined;
  /** Least time between two fetches for unknown keys, ms. Default: 30,000. */
  jwksCooldownMs?: number | undefined;
}

const HMAC = ['HS256', 'HS384', 'HS512'];
const SIGNATURES = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const SECRET_BYTES = 32;
const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * Creates an authenticator for signed tokens, from `Authorization: Bearer` or a cookie; it needs the
 * package `jose`. A refusal does not reveal the fault of a token. If the key set cannot be fetched,
 * the refusal is `unavailable`, since the token may be good.
 *
 * @throws Error if the options name no key or several, a short secret, or a malformed key
 * @example
 * import { createJwtAuthenticator } from 'helix-temporal/api';
 *
 * export const authenticate = createJwtAuthenticator({
 *   jwksUrl: 'https://id.example.com/.well-known/jwks.json',
 *   issuer: 'https://id.example.com/',
 *   audience: 'chat',
 * });
 */
export function createJwtAuthenticator(options: JwtOptions): Authenticate {
  const { userClaim = 'sub', personClaim, tenantClaim = 'tenant_id', tenantsClaim } = options;
  const { rolesClaim = 'roles', roleNames = {}, issuer, audience, cookie, revoked } = options;
  const toKeySource = readKey(options);
  const tolerance = options.clockToleranceSeconds ?? 5;
  const checks = {
    algorithms: readAlgorithms(options),
    clockTolerance: tolerance,
    // A token without an expiry would stay valid for anyone who finds it.
    requiredClaims: ['exp'],
    issuer: issuer && toList(issuer),
    audience: audience && toList(audience),
  };
  const loading = loadJose().then((jose) => ({ ...jose, getKey: toKeySource(jose) }));
  // Requests report the failure.
  loading.catch(() => undefined);
  return async (request) => {
    const token = readToken(request, cookie);
    if (token === undefined) return undefined;
    const { jwtVerify, getKey } = await loading;
    try {
      const { payload } = await jwtVerify(token, getKey, checks);
      const { exp } = payload;
      const named = readNames(payload, rolesClaim);
      const roles = ROLES.filter((role) => named.includes(roleNames[role] ?? role));
      const tenants = tenantsClaim === undefined ? [] : readNames(payload, tenantsClaim);
      const caller = toCaller(payload, userClaim, tenantClaim);
      return {
        ...caller,
        personId: toPersonId(payload, personClaim, caller.userId),
        ...(roles.length > 0 && { roles }),
        ...(tenants.length > 0 && { tenants }),
        expiresAt: exp && (exp + tolerance) * 1_000,
        ...(revoked && {
          revoked: () => Promise.resolve(payload).then(revoked).catch(refuseForNow),
        }),
      };
    } catch (error) {
      if (HelixError.isInstance(error)) throw error;
      throw new HelixError('unauthorized', 'Sign in again.', { cause: error });
    }
  };
}

/** Checks the key at once. @returns a function that opens it */
function readKey(options: JwtOptions): (library: typeof jose) => jose.JWTVerifyGetKey {
  const { secret, publicKey, jwksUrl, jwksCooldownMs } = options;
  const named = [secret, publicKey, jwksUrl].filter((key) => key !== undefined);
  if (named.length !== 1) throw new Error('Give one of secret, publicKey and jwksUrl.');
  if (jwksUrl !== undefined) {
    const url = new URL(jwksUrl);
    if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {
      throw new Error('jwksUrl must be https:, or an address of this machine.');
    }
    return (library) => {
      const getKey = openKeySet(library, url, jwksCooldownMs);
      const refuse = refuseKey(library.errors);
      return (header, token) => getKey(header, token).catch(refuse);
    };
  }
  if (publicKey !== undefined) {
    if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(publicKey)) {
      throw new Error('publicKey is a private key, which can sign tokens. Give the public one.');
    }
    const key = createPublicKey(publicKey);
    return () => () => key;
  }
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < SECRET_BYTES) throw new Error('The secret needs at least 32 bytes.');
  return () => () => bytes;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Refuses a token whose key is not in the set; without the set the token may still be good. */
function refuseKey(errors: typeof jose.errors): (error: unknown) => never {
  return (error) => {
    const isOfToken =
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWKSMultipleMatchingKeys ||
      error instanceof errors.JOSENotSupported;
    if (isOfToken) throw error;
    refuseForNow(error);
  };
}

function refuseForNow(cause: unknown): never {
  throw new HelixError('unavailable', 'Signing in is not possible at the moment.', { cause });
}

function readAlgorithms({ secret, algorithms }: JwtOptions): string[] {
  const possible = secret === undefined ? SIGNATURES : HMAC;
  const wrong = algorithms?.find((name) => !possible.includes(name));
  if (wrong !== undefined) throw new Error(`The key does not fit the algorithm ${wrong}.`);
  return [...(algorithms ?? possible)];
}

/** A header wins even if it is malformed: it must not fall back to the user of the cookie. */
function readToken(request: Request, cookie: string | undefined): string | undefined {
  const header = request.get('authorization');
  if (header !== undefined) return BEARER.exec(header)?.[1];
  return cookie === undefined ? undefined : readCookie(request, cookie);
}

function toCaller(payload: TokenClaims, userClaim: string, tenantClaim: string): Identity {
  const userId = payload[userClaim];
  const tenantId = payload[tenantClaim];
  if (!isName(userId) || (tenantId !== undefined && !isName(tenantId))) {
    throw new HelixError('unauthorized', 'The token does not name its user.');
  }
  return tenantId === undefined ? { userId } : { userId, tenantId };
}

function toPersonId(payload: TokenClaims, claim: string | undefined, user: string): string {
  if (claim === undefined) return personIdOf(user, payload.iss);
  const person = payload[claim] ?? at(payload, claim.split('.'));
  if (!isName(person)) throw new HelixError('unauthorized', 'The token does not name its person.');
  return personIdOf(person);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= LIMITS.idChars;
}

function toList(value: string | readonly string[]): string[] {
  return typeof value === 'string' ? [value] : [...value];
}

/** Reads the names in a claim, a list or words in one text; follows a path. */
function readNames(payload: TokenClaims, claim: string): string[] {
  const value = payload[claim] ?? at(payload, claim.split('.'));
  if (typeof value === 'string') return value.split(/\s+/);
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined,
    value,
  );
}
