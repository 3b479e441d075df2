import { HEADERS } from '../../../protocol/ids.js';
import { ask, withBody } from '../api-client.js';

type Query = Readonly<Record<string, string | number | undefined>>;

/** @throws Refusal, TypeError when the server cannot be reached or does not answer in time */
export async function read<Reply>(
  path: string,
  { query = {}, signal }: { query?: Query; signal?: AbortSignal } = {},
): Promise<Reply> {
  return send<Reply>(path + toSearch(query), { signal: signal ?? null });
}

/**
 * @param key idempotency key: the server performs the act once, however often the request is sent
 * @throws Refusal, TypeError when the server cannot be reached or does not answer in time
 */
export async function act<Reply>(path: string, body: object = {}, key?: string): Promise<Reply> {
  const init = withBody(body);
  const headers = new Headers(init.headers);
  if (key !== undefined) headers.set(HEADERS.idempotencyKey, key);
  return send<Reply>(path, { ...init, headers });
}

export function runPath(runId: string, rest = ''): string {
  return `/operator/runs/${encodeURIComponent(runId)}${rest}`;
}

async function send<Reply>(path: string, init: RequestInit): Promise<Reply> {
  const headers = new Headers(init.headers);
  headers.set(HEADERS.via, 'console');
  return ask<Reply>(fetch, `/api${path}`, { ...init, headers });
}

/** Returns a query string without the empty values. */
export function toSearch(query: Query): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`;
}
