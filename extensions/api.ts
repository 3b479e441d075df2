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

/** Creates an Express app with the agent server, `/api/openapi.json` and `/metrics`. */
export function createApi(options: ApiOptions): Express {
  const { extensions = [] } = options;
  return createServer({
    ...options,
    extensions: [agentServer(), openApi(), metrics(), ...extensions],
  });
}
