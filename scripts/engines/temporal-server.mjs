// Settings of Temporal's dev server, shared by `npm start`, tests and measurements.
import { readFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { flagsOf } from '../system/run-command.mjs';

// Sends one gRPC request without a package: this runs before everything else, and a gRPC library would stay
// in memory.
const DESCRIBE_NAMESPACE = '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace';

/** Resolves to true if the server at `host:port` answers and knows the namespace. Never throws. */
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
    // The status is in the headers of a refusal or in the trailers of an answer.
    const read = (headers) => {
      if ('grpc-status' in headers) finish(headers['grpc-status'] === '0');
    };
    call.on('response', read).on('trailers', read).resume();
    call.end(frame(namespace));
  });
}

/** Frames the message (uncompressed flag, length); field 1 is a string. */
function frame(namespace) {
  const name = Buffer.from(namespace);
  if (name.length > 127) throw new Error('a namespace has at most 127 characters here');
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

/** The attributes that the worker registers on servers that it did not start. */
const SEARCH_ATTRIBUTES = {
  AgentSession: 'Keyword',
  AgentName: 'Keyword',
  AgentStatus: 'Keyword',
  AgentTenant: 'Keyword',
  AgentModel: 'Keyword',
  AgentTurn: 'Int',
};

/** Dynamic settings of every Temporal server that this project runs. */
export const DYNAMIC_CONFIG_FILE = join(projectRoot, 'ops', 'temporal', 'dynamic-config.yaml');

/** Returns these settings as the dev server takes them: keys with JSON values. */
export function readDynamicConfig() {
  const text = readFileSync(DYNAMIC_CONFIG_FILE, 'utf8');
  const lines = text.matchAll(/^([\w.]+):\n {2}- value: (.+)$/gm);
  return Object.fromEntries([...lines].map(([, key, value]) => [key, value.replaceAll("'", '"')]));
}

/**
 * Returns the arguments of the `temporal` command. `ui` is the web UI's address, absent for no UI; without
 * `databaseFile` the server keeps everything in memory at half the cost; `dynamicConfig` adds settings.
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
    ...flagsOf({ ip: '127.0.0.1', port }),
    ...(ui ? flagsOf({ 'ui-ip': ui.host, 'ui-port': ui.port }) : ['--headless']),
    ...(databaseFile ? flagsOf({ 'db-filename': databaseFile }) : []),
    ...(namespace === 'default' ? [] : flagsOf({ namespace })),
    ...pairs('--search-attribute', SEARCH_ATTRIBUTES),
    ...pairs('--dynamic-config-value', { ...readDynamicConfig(), ...dynamicConfig }),
    ...flagsOf({ 'log-level': 'error', 'log-format': 'text' }),
  ];
}

export function isTemporalReady({ port, namespace = 'default' }) {
  return hasNamespace(`127.0.0.1:${port}`, namespace);
}
