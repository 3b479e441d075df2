import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Requests } from '../../store/contract/requests.js';
import { readCaller } from '../identity.js';
import type { RouteDeps } from '../deps.js';
import type { Route } from './route.js';

/** After this time a request whose process died before it replied may be carried out again, ms. */
const CLAIMED_MS = 60_000;
/** Response headers that a repeated request gets again. */
const NAMING = [HEADERS.sessionId, HEADERS.runId];
const KEY = /^[\x21-\x7e]{1,256}$/;

/**
 * Wraps a route so that it carries out a request with an `Idempotency-Key` once: for 24 hours the
 * same caller gets the first reply again. A refused request or an unfinished erasure may be
 * repeated with its key.
 */
export function onceByKey(route: Route, claimedMs = CLAIMED_MS): Route {
  return {
    ...route,
    headers: [...(route.headers ?? []), 'idempotencyKey'],
    refusals: [...(route.refusals ?? []), 'idempotency_conflict'],
    answer: async (deps, request, response) => {
      const key = request.get(HEADERS.idempotencyKey);
      const { requests } = deps.stateStore;
      if (key === undefined) return route.answer(deps, request, response);
      if (!KEY.test(key)) {
        throw new HelixError('validation_error', 'The Idempotency-Key is not 1 to 256 characters.');
      }
      const name = await nameOf(deps, request, key);
      const digest = hash(request.body ?? null);
      const claim = await requests.claim(name, digest, claimedMs);
      if (claim.kind === 'new') {
        return executeOnce(
          route,
          { requests, name, digest, claimedMs },
          { deps, request, response },
        );
      }
      if (claim.digest !== digest) {
        throw new HelixError('idempotency_conflict', 'This key was used with another content.');
      }
      if (claim.reply === undefined) {
        throw new HelixError('idempotency_conflict', 'This request is being carried out.');
      }
      const { status, headers, body } = JSON.parse(claim.reply) as Kept;
      response.status(status).set({ 'cache-control': 'no-store', ...headers });
      if (body === undefined) response.end();
      else response.json(body);
    },
  };
}

interface Kept {
  status: number;
  headers: Record<string, string>;
  body?: unknown;
}

interface Claim {
  requests: Requests;
  name: string;
  digest: string;
  claimedMs: number;
}

/** Status of an erasure that a repeated request has to finish. */
const UNFINISHED = 202;

async function executeOnce(
  route: Route,
  { requests, name, digest, claimedMs }: Claim,
  { deps, request, response }: { deps: RouteDeps; request: Request; response: Response },
): Promise<void> {
  let sent: { body: unknown } | undefined;
  const send = response.json.bind(response);
  response.json = (body: unknown) => {
    sent = { body };
    return response;
  };
  const stopRenewing = keepClaim(requests, name, claimedMs);
  try {
    await route.answer(deps, request, response);
  } catch (error) {
    response.json = send;
    await requests.drop(name);
    throw error;
  } finally {
    // A renewal behind the reply would shorten the time for which that is kept.
    stopRenewing();
  }
  response.json = send;
  const isErasure = route.method === 'delete';
  const isPartial = isErasure && response.statusCode === UNFINISHED;
  const kept = { ...toKept(response), ...sent };
  const reply = JSON.stringify(isErasure ? withoutNames(kept) : kept);
  const mayKeep = !isPartial && Buffer.byteLength(reply) <= LIMITS.inlineResultBytes;
  // The reply is kept before it is sent, so a client that received it gets the same one again. The
  // act is done even if its reply cannot be kept.
  const keep = () => requests.settle(name, reply, LIMITS.idempotencyMs, digest);
  await (mayKeep ? keep() : requests.drop(name)).catch(() => undefined);
  if (sent !== undefined) send(sent.body);
}

/** Drops the person and the session from the kept reply of an erasure, which outlives both. */
function withoutNames({ status, body }: Kept): Kept {
  if (typeof body !== 'object' || body === null) return { status, headers: {}, body };
  const { by: _by, sessionId: _sessionId, ...rest } = body as Record<string, unknown>;
  return { status, headers: {}, body: rest };
}

function toKept(response: Response): Kept {
  const headers = NAMING.flatMap((name) => {
    const value = response.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { status: response.statusCode, headers: Object.fromEntries(headers) as Kept['headers'] };
}

/** Renews a claim during long work. Returns a function that stops the renewal. */
function keepClaim(requests: Requests, name: string, claimedMs: number): () => void {
  const timer = setInterval(() => {
    // A claim that could not be renewed lasts for two more tries.
    requests.renew(name, claimedMs).catch(() => undefined);
  }, claimedMs / 3);
  return () => {
    clearInterval(timer);
  };
}

/** Returns a unique name for a request with an `Idempotency-Key`; undefined without one. */
export async function nameOfRequest(
  deps: RouteDeps,
  request: Request,
): Promise<string | undefined> {
  const key = request.get(HEADERS.idempotencyKey);
  return key === undefined ? undefined : nameOf(deps, request, key);
}

/** Names a request by caller, target and key, so that equal keys of others do not collide. */
async function nameOf(deps: RouteDeps, request: Request, key: string): Promise<string> {
  const { tenantId, userId } = await readCaller(deps, request);
  return hash([tenantId, userId, request.method, request.originalUrl, key]);
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
