import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/wire-names.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Requests } from '../../store/contract/requests.js';
import { readCaller } from '../identity.js';
import type { RouteDeps } from '../deps.js';
import type { Route } from './route.js';

/** A request whose process died before it replied may be carried out again after this time. */
const CLAIMED_MS = 60_000;
/** Response headers that are given again with the reply. */
const NAMING = [HEADERS.sessionId, HEADERS.runId];
const KEY = /^[\x21-\x7e]{1,256}$/;

/**
 * A route that carries out a request with an `Idempotency-Key` once: sent again by the same caller, it
 * gets the first reply for 24 hours. A request that was refused may be repeated with its key, and so
 * may an erasure of which something was left.
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
        const stopRenewing = keepClaim(requests, name, claimedMs);
        return carryOut(route, requests, name, { deps, request, response }).finally(stopRenewing);
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
  /** Those that name the session and its run. */
  headers: Record<string, string>;
  /** Absent if the reply had none. */
  body?: unknown;
}

/** Something is left to do: the same request does it. */
const UNFINISHED = 202;

async function carryOut(
  route: Route,
  requests: Requests,
  name: string,
  { deps, request, response }: { deps: RouteDeps; request: Request; response: Response },
): Promise<void> {
  let kept: Kept | undefined;
  const send = response.json.bind(response);
  response.json = (body: unknown) => {
    kept = { ...toKept(response), body };
    return response;
  };
  try {
    await route.answer(deps, request, response);
  } catch (error) {
    response.json = send;
    await requests.drop(name);
    throw error;
  }
  response.json = send;
  const isPartial = route.method === 'delete' && response.statusCode === UNFINISHED;
  if (kept === undefined || isPartial) {
    const empty = JSON.stringify(
      route.method === 'delete' ? withoutNames(toKept(response)) : toKept(response),
    );
    const noted = isPartial
      ? requests.drop(name)
      : requests.settle(name, empty, LIMITS.idempotencyMs);
    await noted.catch(() => undefined);
    if (kept !== undefined) send(kept.body);
    return;
  }
  // Kept before it is sent: a reply that was received is also given again.
  const reply = JSON.stringify(route.method === 'delete' ? withoutNames(kept) : kept);
  const isKept = Buffer.byteLength(reply) <= LIMITS.inlineResultBytes;
  const done = isKept ? requests.settle(name, reply, LIMITS.idempotencyMs) : requests.drop(name);
  // The act is done whether its reply is kept or not.
  await done.catch(() => undefined);
  send(kept.body);
}

/** What is kept of an erasure says neither who asked for it nor of what: it outlives both. */
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

/** Work that takes longer than a claim keeps it. Returns what ends that. */
function keepClaim(requests: Requests, name: string, claimedMs: number): () => void {
  const timer = setInterval(() => {
    // A claim that could not be renewed lasts for two more tries.
    requests.renew(name, claimedMs).catch(() => undefined);
  }, claimedMs / 3);
  return () => {
    clearInterval(timer);
  };
}

/** What distinguishes a request with an `Idempotency-Key` from all others; undefined without one. */
export async function nameOfRequest(
  deps: RouteDeps,
  request: Request,
): Promise<string | undefined> {
  const key = request.get(HEADERS.idempotencyKey);
  return key === undefined ? undefined : nameOf(deps, request, key);
}

/** Keys of different callers, and of different targets, have nothing to do with each other. */
async function nameOf(deps: RouteDeps, request: Request, key: string): Promise<string> {
  const { tenantId, userId } = await readCaller(deps, request);
  return hash([tenantId, userId, request.method, request.originalUrl, key]);
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
