// How this project runs Temporal's dev server: the same in `npm start`, tests and measurements.
import { readFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';

// Asks a Temporal server one question over plain gRPC, without any package: the engines are
// waited for before anything else runs, and a gRPC library would stay in memory.
const DESCRIBE_NAMESPACE = '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace';

/** True when the server at `host:port` answers and knows the namespace. Never throws. */
export function hasNamespace(address, namespace, { timeoutMs = 2000 } = {}) {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const finish = (answer) => {
      clearTimeout(timer);
      session.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    session.on('error', () => finish(false));

    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: DESCRIBE_NAMESPACE,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', () => finish(false));
    // A refusal comes as headers alone, an answer ends with trailers: the status is in either.
    const read = (headers) => {
      if ('grpc-status' in headers) finish(headers['grpc-status'] === '0');
    };
    call.on('response', read).on('trailers', read).resume();
    call.end(frame(namespace));
  });
}

/** gRPC frame (uncompressed, length) around the message: field 1, a string. */
function frame(namespace) {
  const name = Buffer.from(namespace);
  if (name.length > 127) throw new Error('a namespace has at most 127 characters here');
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

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
