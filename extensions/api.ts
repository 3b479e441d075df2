/** The entry `helix-temporal/api`: the web server, and what extensions add to it. */
// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../api/index.js';
export { createApiMetrics } from './metrics/index.js';
