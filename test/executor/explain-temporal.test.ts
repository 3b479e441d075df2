import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { explainTemporal, inNamespace } from '../../executor/explain-temporal.js';
import { CERTIFICATES } from '../support/tls-proxy.js';
import { Connection } from '@temporalio/client';

/** A server of gRPC over TLS that demands certificates, and replies with these statuses. */
let server: Http2SecureServer | undefined;
afterEach(() => {
  server?.close();
});

const read = (name: string): Buffer =>
  readFileSync(new URL(`../support/certificates/${name}`, import.meta.url));

interface Replies {
  /** Status of every call. */
  all?: number;
  /** Of those about the namespace. */
  namespace?: number;
}

async function serve({ all = 0, namespace = all }: Replies): Promise<string> {
  const made = createSecureServer({
    ...{ key: read('server.key'), cert: read('server.pem'), ca: read('ca.pem') },
    ...{ requestCert: true, rejectUnauthorized: true },
  });
  made.on('stream', (stream, headers) => {
    const isNamespace = headers[':path']?.endsWith('/DescribeNamespace') === true;
    const status = isNamespace ? namespace : all;
    const content = { ':status': 200, 'content-type': 'application/grpc' };
    if (status !== 0) {
      const why = { 'grpc-status': String(status), 'grpc-message': 'the reason' };
      stream.respond({ ...content, ...why }, { endStream: true });
      return;
    }
    stream.respond(content, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'grpc-status': '0' });
    });
    // An empty message.
    stream.end(Buffer.alloc(5));
  });
  made.on('sessionError', () => undefined);
  server = made;
  await new Promise<void>((resolve) => {
    made.listen(0, '127.0.0.1', resolve);
  });
  return `127.0.0.1:${String((made.address() as AddressInfo).port)}`;
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
const { clientCertPair: _pair, ...WITHOUT_CERTIFICATE } = TLS;
const { serverRootCACertificate: _authority, ...WITHOUT_AUTHORITY } = TLS;

it.each([
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
  ['no permission', { namespace: 7 }, TLS, /may not use the namespace "acme".* TEMPORAL_API_KEY/],
  ['what it needs', {}, TLS, undefined],
] as const)('a process with %s says at its start what to do', async (_, replies, tls, says) => {
  const address = await serve(replies);
  const connection = { address, tls };
  const looked = await explainTemporal({
    ...{ address, connection, namespace: 'acme', taskQueue: 'runs', keyIds: [] },
  });
  if (says === undefined) expect(looked.fault).toBeUndefined();
  else expect(looked.fault).toMatch(says);
});

it.each([
  ['an unknown namespace', 5],
  ['no permission', 7],
])('a connection with %s is not used', async (_, namespace) => {
  const address = await serve({ namespace });
  const connection = await Connection.connect({ address, tls: TLS });
  await expect(inNamespace(connection, 'acme')).rejects.toMatchObject({ code: namespace });
});
