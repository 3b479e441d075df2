export { createApi } from './create-api.js';
export type { ApiDeps } from './deps.js';
export type { Authenticate, IdentityOptions } from './identity.js';
export { pipeToExpress } from './pipe-to-express.js';
export type { PipeOptions } from './pipe-to-express.js';
export type { ApiLogger } from './refusals.js';
export type { ReadinessChecks } from './routes/health.js';
