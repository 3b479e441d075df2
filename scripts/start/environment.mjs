// The environment of the two processes, and its check before anything is started.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../system/project.mjs';
import { UserError } from '../system/user-error.mjs';

/** Sets known values only: an absent variable keeps its default in the schema. */
export function childEnvironment(settings, servers) {
  const { port, url, redisUrl, temporalAddress, isTemporalOwn, temporalUiUrl } = servers;
  const variables = {
    PORT: String(port),
    HOST: settings.host,
    REDIS_URL: redisUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    // The server that `npm start` runs itself has no TLS, whatever the command line's profile says.
    TEMPORAL_TLS: isTemporalOwn ? 'false' : undefined,
    TEMPORAL_NAMESPACE: settings.namespace,
    TASK_QUEUE: settings.taskQueue,
    MODEL: settings.model,
    DATA_DIR: settings.dataDir,
    PUBLIC_URL: process.env.PUBLIC_URL || url,
    TEMPORAL_UI_URL: process.env.TEMPORAL_UI_URL || temporalUiUrl,
    HELIX_ALLOW_UNAUTHENTICATED: settings.allowUnauthenticated,
    AGENTS: settings.agents,
    DEFAULT_AGENT: process.env.DEFAULT_AGENT || (settings.agents ? undefined : 'support'),
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/**
 * Checks the environment with the schema of the processes, before engines are started.
 *
 * @returns how the processes reach Temporal: address and namespace
 */
export async function checkEnvironment(env) {
  const schema = pathToFileURL(join(projectRoot, 'dist', 'config', 'env.js')).href;
  const temporal = pathToFileURL(join(projectRoot, 'dist', 'config', 'temporal.js')).href;
  const [{ parseEnv, ConfigError }, { readTemporal }] = await Promise.all([
    import(schema),
    import(temporal),
  ]);
  try {
    parseEnv({ ...process.env, ...env });
    return readTemporal({ ...process.env, ...env });
  } catch (error) {
    if (error instanceof ConfigError) throw new UserError(error.message);
    throw error;
  }
}
