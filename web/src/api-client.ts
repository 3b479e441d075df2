import type { UIMessage } from 'ai';
import type { FrontendSnapshot, ProblemBody, ConfigReply } from '../../protocol/replies.js';
import { workflowIdOf, HEADERS } from '../../protocol/ids.js';
import { LIMITS, tryParseJson } from '../../protocol/limits.js';
import { withTimeout } from '../../protocol/time.js';

export type Snapshot = FrontendSnapshot<Record<string, unknown>, UIMessage>;

/** The server's settings that the page needs. */
export type PageConfig = ConfigReply;

/** A refusal by the server; the message is for people. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly statusCode: number;
  /** The server's error code, if it sends one. */
  readonly code: string | undefined;

  constructor(statusCode: number, body: string) {
    const problem = readProblem(body);
    super(problem?.error ?? `The server answered with status ${String(statusCode)}.`);
    this.statusCode = statusCode;
    this.code = problem?.code;
  }
}

export function readProblem(body: string | undefined): ProblemBody | undefined {
  const value = tryParseJson(body ?? '');
  return isProblem(value) ? value : undefined;
}

function isProblem(value: unknown): value is ProblemBody {
  if (typeof value !== 'object' || value === null) return false;
  return 'error' in value && typeof value.error === 'string' && 'code' in value;
}

export type Fetch = typeof globalThis.fetch;

const MAX_SILENCE_MS = 10_000;

/**
 * Sends a request with a limit on the server's silence; a long answer may take its time on a slow line.
 *
 * @throws TypeError when the server cannot be reached, or does not answer in time; so does the answer's body
 */
export async function request(
  send: Fetch,
  url: Parameters<Fetch>[0],
  init: RequestInit = {},
): Promise<Response> {
  const silence = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
  const late = (): TypeError => {
    silence.abort();
    return new TypeError('no answer in time');
  };
  const inTime = <T>(work: Promise<T>): Promise<T> => withTimeout(MAX_SILENCE_MS, work, { late });
  const response = await inTime(send(url, { cache: 'no-store', ...init, signal }));
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await inTime(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}

/** Returns the server's JSON reply. @throws Refusal, TypeError */
export async function ask<Reply>(send: Fetch, url: string, init?: RequestInit): Promise<Reply> {
  const response = await request(send, url, init);
  if (!response.ok) throw new Refusal(response.status, await response.text());
  return (await response.json()) as Reply;
}

export function withBody(body: object, method = 'POST'): RequestInit {
  return {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** Returns the URL of a conversation, or of something in it. */
export function chatUrl(sessionId: string, ...path: string[]): string {
  return ['/api/chat', ...[sessionId, ...path].map(encodeURIComponent)].join('/');
}

/**
 * Reads the first pages of a list of conversations, in as few requests as the server allows. A search
 * may find less than a page in one request, so there are at most as many requests as pages. A
 * conversation that moves to a later page meanwhile is listed once.
 *
 * @param name field of the reply that has the entries
 * @throws Refusal, TypeError
 */
export async function readFirst<Entry extends { sessionId: string }>(
  [pages, perPage]: readonly [pages: number, perPage: number],
  { url, name, query, ...init }: RequestInit & { url: string; name: string; query: object },
  send: Fetch = pageFetch,
): Promise<{ entries: Entry[]; hasMore: boolean }> {
  const entries = new Map<string, Entry>();
  let cursor: string | undefined;
  const most = pages * perPage;
  for (let asked = 0; asked < pages && entries.size < most; asked += 1) {
    const limit = Math.min(most - entries.size, LIMITS.waitingSessions);
    const at = { limit: String(limit), ...(cursor !== undefined && { cursor }) };
    const search = new URLSearchParams({ ...query, ...at });
    const reply = await ask<Record<string, unknown>>(send, `${url}?${search.toString()}`, init);
    for (const entry of reply[name] as Entry[]) entries.set(entry.sessionId, entry);
    cursor = reply['cursor'] as string | undefined;
    if (cursor === undefined) break;
  }
  return { entries: [...entries.values()], hasMore: cursor !== undefined };
}

/** The browser's `fetch` with a header that tells the audit trail that this page sent the request. */
export const pageFetch: Fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set(HEADERS.via, 'page');
  return fetch(input, { ...init, headers });
};

/** Returns the run's URL in the Temporal UI; undefined if the server knows of no UI. */
export function runUrl(
  config: Pick<PageConfig, 'temporalUi' | 'namespace'>,
  runId: string | undefined,
): string | undefined {
  if (config.temporalUi === undefined || runId === undefined) return undefined;
  const base = config.temporalUi.replace(/\/+$/, '');
  const namespace = encodeURIComponent(config.namespace);
  return `${base}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowIdOf(runId))}`;
}

type Role = PageConfig['roles'][number];

/** Ascending: each role includes the ones before it. */
const RANK: readonly Role[] = ['viewer', 'approver', 'operator'];

/** Returns true if one of the roles includes `role`. Only hides controls; the server enforces roles. */
export function mayAs(roles: readonly Role[], role: Role): boolean {
  return roles.some((held) => RANK.indexOf(held) >= RANK.indexOf(role));
}
