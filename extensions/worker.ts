/** The entry `helix-temporal/runtime-temporal`: the worker, and what extensions add to it. */
// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../worker/index.js';
export { exportMetricsAt } from './metrics/exporter.js';
