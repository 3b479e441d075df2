import type { UIMessage } from 'ai';
import type { FrontendSnapshot, ProblemBody } from '../../protocol/http.js';

export type Snapshot = FrontendSnapshot<UIMessage>;

/** What the server tells the page about itself. */
export interface PageConfig {
  agents: string[];
  /** null where the server has none, so that each conversation has to name its agent. */
  defaultAgent: string | null;
  temporalUi?: string;
  namespace: string;
}

/** A reply that says no. `passing` means that the same request may be answered later. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string | undefined;
  readonly passing: boolean;

  constructor(status: number, body: string) {
    const problem = readProblem(body);
    super(problem?.error ?? `The server answered with status ${String(status)}.`);
    this.code = problem?.code;
    this.passing = isPassing(status);
  }
}

/** Statuses of a server that is away or overloaded, as opposed to one that declines. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

export function readProblem(body: string | undefined): ProblemBody | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is ProblemBody {
  if (typeof value !== 'object' || value === null) return false;
  return 'error' in value && typeof value.error === 'string' && 'code' in value;
}

export type Fetch = typeof globalThis.fetch;

const PATIENCE_MS = 10_000;

/** A request that does not wait for ever. */
export async function request(send: Fetch, url: string, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  return send(url, { cache: 'no-store', ...init, signal });
}

export async function loadConfig(send: Fetch, signal?: AbortSignal): Promise<PageConfig> {
  const response = await request(send, '/api/config', { signal: signal ?? null });
  if (!response.ok) throw new Refusal(response.status, await response.text());
  return (await response.json()) as PageConfig;
}

/** The conversation as the server knows it; undefined if it knows of none. */
export async function loadSnapshot(
  send: Fetch,
  sessionId: string,
  signal?: AbortSignal,
): Promise<Snapshot | undefined> {
  const url = `/api/chat/${encodeURIComponent(sessionId)}/snapshot`;
  const response = await request(send, url, { signal: signal ?? null });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Refusal(response.status, await response.text());
  return (await response.json()) as Snapshot;
}

/** Asks the server to stop the run. The open stream then ends by itself, with what was said so far. */
export async function stopRun(send: Fetch, sessionId: string): Promise<void> {
  const url = `/api/chat/${encodeURIComponent(sessionId)}/stop`;
  const response = await request(send, url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (!response.ok) throw new Refusal(response.status, await response.text());
}
