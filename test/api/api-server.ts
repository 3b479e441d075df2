import express, { type Request, type RequestHandler } from 'express';
import type { Identity } from '../../api/identity.js';
import { createApi, type ApiDeps, type ApiOptions } from '../../api/index.js';
import { listen } from '../../api/listen.js';
import { allExtensions } from '../../extensions/index.js';
import { AgentRegistry } from '../../agents/index.js';
import type { RunsDeps } from '../../runs/deps.js';
import type { Runs } from '../../runs/runs.js';
import type { Role } from '../../protocol/actor.js';
import { createMemoryStores, type MemoryStores } from '../../store/memory/index.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { playWith, type Play } from '../support/played-turn.js';
import { fakeAgent } from '../support/fake-agent.js';

export interface ApiServer {
  url: string;
  stores: MemoryStores;
  /** What the app wrote to its log, as JSON. */
  logged: string[];
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  close: () => Promise<void>;
}

/** Options of `createApi` that a test replaces. */
export type StartOptions = Partial<Omit<ApiDeps, 'executor' | 'agents'>> & {
  executor?: ApiOptions['executor'];
  extensions?: ApiOptions['extensions'];
  agents?: ApiDeps['agents'];
  stores?: MemoryStores;
  /** What happens in each run. Default: nothing, so that it stays active. */
  play?: Play;
  /** What the author's own app, in which the API is mounted then, does with requests before it. */
  before?: RequestHandler[];
  /** Where that app mounts the API. */
  at?: string;
};

const define = (name: string) => fakeAgent(name, 'scripted');

/** The real app on a real port, over runs in memory; it is closed behind the tests of the file. */
export async function startApi({
  before = [],
  at = '/',
  play,
  stores = createMemoryStores(),
  ...options
}: StartOptions = {}): Promise<ApiServer> {
  const logged: string[] = [];
  const log = (fields: object, message: string): void => {
    logged.push(JSON.stringify({ ...fields, message }));
  };
  const agents = new AgentRegistry([define('lab'), define('support')]);
  const known = options.agents instanceof AgentRegistry ? options.agents : agents;
  const workflows = play && { start: playWith(stores, play) };
  const app = createApi({
    executor: { runs: createIdleRuns(stores, { agents: known, workflows }) },
    stateStore: stores.store,
    streamManager: stores.streamManager,
    agents,
    extensions: allExtensions(),
    allowUnauthenticated: true,
    namespace: 'default',
    checks: {},
    logger: { info: log, warn: log, error: log },
    ...options,
  });
  const isAlone = before.length === 0 && at === '/';
  const host = isAlone ? app : express().use(at, ...before, app);
  const server = await listen(host, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(server.port)}`;
  atEndOfFile(server.close);
  return {
    url,
    stores,
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

interface MemoryHost extends Omit<StartOptions, 'executor' | 'agents'> {
  agents?: AgentRegistry;
  /** For `createRuns`. */
  runs?: Partial<RunsDeps>;
  /** In place of what that makes. */
  instead?: Partial<Runs>;
}

/** The same with an agent `tester` and sign-in: `x-user` is `user@tenant@roles`. */
export function startOnMemory({
  stores = createMemoryStores(),
  agents = new AgentRegistry([define('tester')]),
  runs,
  instead,
  ...options
}: MemoryHost = {}): Promise<ApiServer> {
  const made = createIdleRuns(stores, { ...runs, agents });
  return startApi({
    stores,
    executor: { runs: { ...made, ...instead } },
    agents,
    allowUnauthenticated: false,
    authenticate: readUser,
    ...options,
  });
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

/** A run that greets and ends at once. */
export const greets: Play = async (turn) => {
  await turn.say('Hello.');
  await turn.finish();
};

/** A user message of one text. */
export function say(id: string, text: string): object {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}
