import {
  startPrivateTemporal,
  type PrivateTemporal,
} from '../../scripts/engines/private-engines.mjs';
import { requireProgram } from './require-program.js';

export type TemporalServer = PrivateTemporal;

/**
 * Starts a Temporal dev server for this test, with a database file and the product's search
 * attributes. Without `dir` it uses a folder that `close` removes; `stop`, `kill9` and `restart`
 * keep its data.
 */
export function startTemporal(
  options: { dir?: string; port?: number; namespace?: string } = {},
): Promise<TemporalServer> {
  return startPrivateTemporal({
    file: requireProgram('TEMPORAL_CLI_PATH'),
    folder: options.dir,
    port: options.port,
    namespace: options.namespace,
  });
}
