// How this project runs Temporal's dev server: the same in `npm start`, tests and measurements.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { hasNamespace } from './grpc-probe.mjs';

/** Kept in step with the worker, which registers the same ones on servers it did not start. */
export const SEARCH_ATTRIBUTES = {
  AgentSession: 'Keyword',
  AgentName: 'Keyword',
  AgentStatus: 'Keyword',
  AgentTenant: 'Keyword',
  AgentModel: 'Keyword',
  AgentTurn: 'Int',
};

/** Settings of every Temporal server that this project runs. */
export const DYNAMIC_CONFIG_FILE = join(projectRoot, 'ops', 'temporal', 'dynamic-config.yaml');

/** The same as the dev server takes it: keys, and values in JSON. */
export function readDynamicConfig() {
  const text = readFileSync(DYNAMIC_CONFIG_FILE, 'utf8');
  const lines = text.matchAll(/^([\w.]+):\n {2}- value: (.+)$/gm);
  return Object.fromEntries([...lines].map(([, key, value]) => [key, value.replaceAll("'", '"')]));
}

/**
 * The arguments of the `temporal` command. Without `ui`, where it is to listen, there is no web UI; without
 * `databaseFile` it keeps all in memory, at half the cost; `dynamicConfig` adds to the server's settings.
 */
export function temporalArguments({
  port,
  ui,
  databaseFile,
  namespace = 'default',
  dynamicConfig = {},
}) {
  const pairs = (flag, values) =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]);
  return [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    ...(ui ? ['--ui-ip', ui.host, '--ui-port', String(ui.port)] : ['--headless']),
    ...(databaseFile ? ['--db-filename', databaseFile] : []),
    ...(namespace === 'default' ? [] : ['--namespace', namespace]),
    ...pairs('--search-attribute', SEARCH_ATTRIBUTES),
    ...pairs('--dynamic-config-value', { ...readDynamicConfig(), ...dynamicConfig }),
    '--log-level',
    'error',
    '--log-format',
    'text',
  ];
}

export function isTemporalReady({ port, namespace = 'default' }) {
  return hasNamespace(`127.0.0.1:${port}`, namespace);
}
