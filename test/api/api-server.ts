import { createApi, type ApiDeps } from '../../api/index.js';
import { listen } from '../../api/listen.js';
import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';

export interface ApiServer {
  url: string;
  runtime: FakeRuntime;
  /** What the app wrote to its log, as JSON. */
  logged: string[];
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  close: () => Promise<void>;
}

/** The real app on a real port, over a runtime in memory. */
export async function startApi(
  runtime: FakeRuntime = createFakeRuntime(),
  options: Partial<ApiDeps> = {},
): Promise<ApiServer> {
  const logged: string[] = [];
  const log = (fields: object, message: string): void => {
    logged.push(JSON.stringify({ ...fields, message }));
  };
  const app = createApi({
    ...runtime,
    allowUnauthenticated: true,
    namespace: 'default',
    checks: {},
    logger: { info: log, warn: log, error: log },
    ...options,
  });
  const server = await listen(app, 0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(server.port)}`;
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

/** A user message of one text. */
export function say(id: string, text: string): object {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}
