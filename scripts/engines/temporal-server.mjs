// How this project runs Temporal's dev server: the same in `npm start`, tests and measurements.
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

const DYNAMIC_CONFIG = {
  // The stock value of 20 lets every task wait about 50 ms for dispatch on a one-shard server.
  'history.transferProcessorMaxPollRPS': 1000,
  // The server's HTTP API takes what any web page sends and knows no login, so it is closed: the only
  // host that it may serve is one that no request can name.
  'frontend.httpAllowedHosts': '["/"]',
};

/**
 * The arguments of the `temporal` command. Without `ui`, where it is to listen, there is no web UI;
 * `dynamicConfig` adds to the server's settings.
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
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...(ui ? ['--ui-ip', ui.host, '--ui-port', String(ui.port)] : ['--headless']),
    ...['--db-filename', databaseFile],
    ...(namespace === 'default' ? [] : ['--namespace', namespace]),
    ...pairs('--search-attribute', SEARCH_ATTRIBUTES),
    ...pairs('--dynamic-config-value', { ...DYNAMIC_CONFIG, ...dynamicConfig }),
    ...['--log-level', 'error', '--log-format', 'text'],
  ];
}

export function isTemporalReady({ port, namespace = 'default' }) {
  return hasNamespace(`127.0.0.1:${port}`, namespace);
}
