import express, { type Request, type RequestHandler } from 'express';
import type { Identity } from '../../api/identity.js';
import { createApi, type ApiDeps, type ApiOptions } from '../../api/index.js';
import { listen } from '../../api/listen.js';
import { allExtensions } from '../../extensions/index.js';
import { AgentRegistry, defineAgent } from '../../agents/index.js';
import { createRuns, type RunsDeps } from '../../runs/create-runs.js';
import type { Runs } from '../../runs/runs.js';
import type { Role } from '../../protocol/actor.js';
import { createMemoryStores, type MemoryStores } from '../../store/memory/index.js';
import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';
import { IDLE_WORKFLOWS } from '../support/idle-workflows.js';

export interface ApiServer {
  url: string;
  runtime: FakeRuntime;
  /** What the app wrote to its log, as JSON. */
  logged: string[];
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  close: () => Promise<void>;
}

/** Options of `createApi` that a test replaces. */
export type StartOptions = Partial<Omit<ApiDeps, 'executor'>> & {
  executor?: ApiOptions['executor'];
  extensions?: ApiOptions['extensions'];
  /** What the author's own app, in which the API is mounted then, does with requests before it. */
  before?: RequestHandler[];
};

/** The real app on a real port, over a runtime in memory; it is closed behind the tests of the file. */
export async function startApi(
  runtime: FakeRuntime = createFakeRuntime(),
  { before, ...options }: StartOptions = {},
): Promise<ApiServer> {
  const logged: string[] = [];
  const log = (fields: object, message: string): void => {
    logged.push(JSON.stringify({ ...fields, message }));
  };
  const app = createApi({
    ...runtime,
    extensions: allExtensions(),
    allowUnauthenticated: true,
    namespace: 'default',
    checks: {},
    logger: { info: log, warn: log, error: log },
    ...options,
  });
  const host = before === undefined ? app : express().use(...before, app);
  const server = await listen(host, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(server.port)}`;
  atEndOfFile(server.close);
  return {
    url,
    runtime,
    logged,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(url + path, { headers }),
    close: () => server.close(),
  };
}

interface MemoryHost extends Omit<StartOptions, 'executor'> {
  stores?: MemoryStores;
  agents?: AgentRegistry;
  /** For `createRuns`. */
  runs?: Partial<RunsDeps>;
  /** In place of what that makes. */
  instead?: Partial<Runs>;
}

/**
 * The same on memory stores, with an agent `tester` and an engine that does nothing. `x-user` is
 * `user@tenant@roles`.
 */
export async function startOnMemory({
  stores = createMemoryStores(),
  agents = new AgentRegistry([
    defineAgent({ name: 'tester', systemPrompt: '', llmConfig: { model: 'scripted' } }),
  ]),
  runs,
  instead,
  ...options
}: MemoryHost = {}): Promise<ApiServer & { stores: MemoryStores }> {
  const { store, streamManager } = stores;
  const made = createRuns({
    store,
    streamManager,
    agents,
    workflows: IDLE_WORKFLOWS,
    searchAttributes: true,
    logger: { warn: () => undefined },
    ...runs,
  });
  const server = await startApi(createFakeRuntime(), {
    executor: { runs: { ...made, ...instead } },
    stateStore: store,
    streamManager,
    agents,
    allowUnauthenticated: false,
    authenticate: readUser,
    ...options,
  });
  return { ...server, stores };
}

/** Whom the header names; undefined without one. */
export function readUser(request: Request): Identity | undefined {
  const [userId, tenantId, roles = ''] = (request.get('x-user') ?? '').split('@');
  if (!userId) return undefined;
  return {
    userId,
    ...(tenantId !== undefined && tenantId !== '' && { tenantId }),
    roles: roles.split(',').filter((role) => role !== '') as Role[],
  };
}

/** An agent that greets, whose run ends at once. */
export function createGreeter(): FakeRuntime {
  return createFakeRuntime(async (session) => {
    session.step();
    session.say('Hello.');
    session.commit();
    session.end();
    await Promise.resolve();
  });
}

/** A user message of one text. */
export function say(id: string, text: string): object {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}
