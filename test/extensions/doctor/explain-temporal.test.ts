import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:net';
import {
  explainTemporal,
  inNamespace,
  inspectTemporal,
  inUsableNamespace,
} from '../../../extensions/doctor/index.js';
import { listen } from '../../support/listen.js';
import { sharedTemporal } from '../../support/product.js';
import { CERTIFICATES } from '../../support/secured-temporal.js';
import { until } from '../../support/until.js';
import { Connection } from '@temporalio/client';

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../support/certificates/${name}`, import.meta.url));

interface Replies {
  /** gRPC status of every call. */
  all?: number;
  /** gRPC status of calls about the server. */
  system?: number;
  /** gRPC status of calls about the namespace. */
  namespace?: number;
}

/** Starts a gRPC server over TLS that demands client certificates. */
async function serve({ all = 0, system = all, namespace = all }: Replies): Promise<string> {
  const made = createSecureServer({
    key: read('server.key'),
    cert: read('server.pem'),
    ca: read('ca.pem'),
    requestCert: true,
    rejectUnauthorized: true,
  });
  made.on('stream', (stream, headers) => {
    const statuses: Record<string, number> = {
      GetSystemInfo: system,
      DescribeNamespace: namespace,
    };
    const status = statuses[headers[':path']?.split('/').at(-1) ?? ''] ?? all;
    const content = { ':status': 200, 'content-type': 'application/grpc' };
    if (status !== 0) {
      const why = { 'grpc-status': String(status), 'grpc-message': 'the reason' };
      stream.respond({ ...content, ...why }, { endStream: true });
      return;
    }
    stream.respond(content, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // An empty message.
    stream.end(Buffer.alloc(5));
  });
  made.on('sessionError', () => undefined);
  return `127.0.0.1:${String((await listen(made)).port)}`;
}

const clientCertPair = {
  crt: readFileSync(CERTIFICATES.client),
  key: readFileSync(CERTIFICATES.clientKey),
};
const TLS = {
  serverNameOverride: 'temporal.test',
  serverRootCACertificate: readFileSync(CERTIFICATES.authority),
  clientCertPair,
};
const JUNK = { ...TLS, clientCertPair: { ...clientCertPair, crt: Buffer.from('junk') } };
const OTHER_KEY = { ...TLS, clientCertPair: { ...clientCertPair, key: read('server.key') } };
const { clientCertPair: _pair, ...WITHOUT_CERTIFICATE } = TLS;
const { serverRootCACertificate: _authority, ...WITHOUT_AUTHORITY } = TLS;

it.concurrent.each([
  ['no certificate', {}, WITHOUT_CERTIFICATE, /refuses the TLS.* TEMPORAL_TLS_CLIENT_CERT_PATH/],
  ['another authority', {}, WITHOUT_AUTHORITY, /not trusted.* TEMPORAL_TLS_SERVER_CA_CERT_PATH/],
  [
    'an expired key',
    { all: 16 },
    TLS,
    /refuses the credentials: the reason\. Renew TEMPORAL_API_KEY/,
  ],
  [
    'an unknown namespace',
    { namespace: 5 },
    TLS,
    /no namespace "acme"\. Correct TEMPORAL_NAMESPACE/,
  ],
  [
    'no permission',
    { all: 7, system: 0 },
    TLS,
    /may not use the namespace "acme".* TEMPORAL_API_KEY/,
  ],
  ['an unreadable certificate', {}, JUNK, /cannot be used: .* TEMPORAL_TLS_CLIENT_CERT_PATH/],
  ["another certificate's key", {}, OTHER_KEY, /cannot be used: .*mismatch.* its own key/],
  ['what it needs', {}, TLS, undefined],
] as const)('a process with %s says at its start what to do', async (_, replies, tls, says) => {
  const address = await serve(replies);
  const connection = { address, tls };
  const looked = await explainTemporal({
    address,
    connection,
    namespace: 'acme',
    taskQueue: 'runs',
    keyIds: [],
  });
  if (says === undefined) expect(looked.fault).toBeUndefined();
  else expect(looked.fault).toMatch(says);
});

it.concurrent.each([
  ['an unknown namespace', inNamespace, { namespace: 5 }, 5],
  ['an unknown namespace, for an API', inUsableNamespace, { namespace: 5 }, 5],
  ['no permission', inUsableNamespace, { all: 7, system: 0 }, 7],
  ['a namespace that it may not describe, for a worker', inNamespace, { namespace: 7 }, 7],
] as const)('a connection with %s is not used', async (_, use, replies, code) => {
  const address = await serve(replies);
  const connection = await Connection.connect({ address, tls: TLS });
  await expect(use(connection, 'acme')).rejects.toMatchObject({ code });
});

it.concurrent(
  'an API begins in a namespace that it may use and not describe, with a warning',
  async () => {
    const address = await serve({ namespace: 7 });
    const connection = await Connection.connect({ address, tls: TLS });
    await expect(inUsableNamespace(connection, 'acme')).resolves.toBe(connection);
    await connection.close();
    const settings = {
      address,
      connection: { address, tls: TLS },
      namespace: 'acme',
      taskQueue: 'runs',
      keyIds: [],
    };
    await expect(explainTemporal(settings)).resolves.toEqual({
      fault: undefined,
      warning: expect.stringMatching(
        /"acme", but not describe it: the reason\..*DescribeNamespace/,
      ),
    });
    // The SDK's workers describe the namespace themselves.
    await expect(explainTemporal({ ...settings, isWorker: true })).resolves.toMatchObject({
      fault: expect.stringContaining('may not use the namespace "acme"'),
    });
  },
);

it.concurrent(
  'a server without TLS is named as such, not as one whose certificate is not trusted',
  async () => {
    const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const address = `127.0.0.1:${String((await listen(plain)).port)}`;
    const settings = { namespace: 'acme', taskQueue: 'runs', keyIds: [] };
    const { fault } = await explainTemporal({
      ...settings,
      address,
      connection: { address, tls: TLS },
    });
    expect(fault).toMatch(/does not speak TLS: .* Set TEMPORAL_TLS=false/);
  },
);

it('the retention of a namespace is read', async () => {
  const address = sharedTemporal();
  const namespace = `short-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 3_600 as never },
  });
  await connection.close();
  const where = { connection: { address }, namespace, taskQueue: 'none' };
  await until('the namespace is known', async () => {
    const found = await inspectTemporal(where);
    if (!('value' in found && 'value' in found.value.namespace)) return false;
    expect(found.value.namespace.value).toEqual({ retentionMs: 3_600_000 });
    return true;
  });
});
