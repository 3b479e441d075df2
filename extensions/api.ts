/** The entry `helix-temporal/api`: the web server with its standard extensions. */
import type { Express } from 'express';
import { createApi as createServer, type ApiOptions } from '../api/index.js';
import { agentServer } from './agent-server/index.js';
import { metrics } from './metrics/index.js';
import { openApi } from './openapi/index.js';

// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../api/index.js';
export { createJwtAuthenticator, type JwtOptions } from './jwt/index.js';
export { createApiMetrics } from './metrics/index.js';

/**
 * Creates the HTTP API as an Express app that does not listen yet, with the agent server,
 * `/api/openapi.json` and `/metrics`.
 *
 * @throws Error without `authenticate`, unless `allowUnauthenticated` is set
 * @example
 * import { Connection } from '@temporalio/client';
 * import { defineAgent } from 'helix-temporal';
 * import { createApi, createJwtAuthenticator } from 'helix-temporal/api';
 * import { createAgentExecutor } from 'helix-temporal/executor';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const helper = defineAgent({
 *   name: 'helper',
 *   systemPrompt: 'Help.',
 *   llmConfig: { model: 'scripted' },
 * });
 * const agents = [helper];
 * const stores = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'refuse' });
 * const connection = await Connection.connect({ address: 'localhost:7233' });
 * const executor = await createAgentExecutor({ connection, taskQueue: 'chat', agents, stores });
 * const authenticate = createJwtAuthenticator({ secret: process.env['JWT_SECRET'] });
 * const server = createApi({ executor, stores, agents, authenticate }).listen(3000);
 *
 * process.once('SIGTERM', () => {
 *   server.close(() => void Promise.all([stores.close(), connection.close()]));
 *   server.closeAllConnections();
 * });
 */
export function createApi(options: ApiOptions): Express {
  const { extensions = [] } = options;
  return createServer({
    ...options,
    extensions: [agentServer(), openApi(), metrics(), ...extensions],
  });
}
