import { readFileSync } from 'node:fs';
import {
  connect,
  createSecureServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

const read = (name: string): Buffer =>
  readFileSync(new URL(`certificates/${name}`, import.meta.url));

/** Paths of the certificates that the server and its clients use; valid for a hundred years. */
export const CERTIFICATES = {
  authority: new URL('certificates/ca.pem', import.meta.url).pathname,
  client: new URL('certificates/client.pem', import.meta.url).pathname,
  clientKey: new URL('certificates/client.key', import.meta.url).pathname,
} as const;

/** A Temporal behind TLS that demands client certificates and an API key, as Temporal Cloud can. */
export interface SecuredTemporal {
  readonly port: number;
  /** Calls that named a namespace in no header, which Temporal Cloud needs to find it. */
  readonly unrouted: ReadonlySet<string>;
  /** From now on this key only; what runs is cut off at its next call. */
  accept: (key: string) => void;
  close: () => Promise<void>;
}

/** Calls about the server, not about a namespace. */
const OF_SERVER = /\/(?:GetSystemInfo|GetClusterInfo|Check)$/;

/** Serves a Temporal without TLS under TLS, to those who bring a certificate and the API key. */
export async function startSecuredTemporal(
  target: string,
  firstKey: string,
): Promise<SecuredTemporal> {
  let accepted = firstKey;
  const unrouted = new Set<string>();
  const sessions = new Set<{ destroy: () => void }>();
  const server = createSecureServer({
    key: read('server.key'),
    cert: read('server.pem'),
    ca: read('ca.pem'),
    requestCert: true,
    rejectUnauthorized: true,
  });
  // Of a client without a certificate.
  server.on('sessionError', () => undefined);
  server.on('session', (session) => {
    const behind = connect(`http://${target}`);
    for (const each of [session, behind]) {
      sessions.add(each);
      each.on('error', () => undefined);
    }
    session.on('close', () => {
      behind.destroy();
    });
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      const path = headers[':path'] ?? '';
      if (!OF_SERVER.test(path) && headers['temporal-namespace'] === undefined) unrouted.add(path);
      if (headers.authorization === `Bearer ${accepted}`) pass(stream, headers, behind);
      else refuse(stream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    unrouted,
    accept: (key) => {
      accepted = key;
    },
    close: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** What Temporal Cloud replies to a key that is wrong, or has expired. */
function refuse(stream: ServerHttp2Stream): void {
  const why = { 'grpc-status': '16', 'grpc-message': 'invalid or expired API key' };
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', ...why },
    { endStream: true },
  );
}

function pass(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  behind: ClientHttp2Session,
): void {
  const { ':scheme': _scheme, ':authority': _authority, authorization: _key, ...rest } = headers;
  const passed = behind.request(rest);
  passed.on('error', () => {
    stream.destroy();
  });
  stream.on('close', () => {
    passed.close();
  });
  passed.on('response', (reply, flags) => {
    // Bit 1 of the flags: a reply that is trailers only.
    const endStream = (flags & 1) !== 0;
    stream.respond(reply, { endStream, waitForTrailers: !endStream });
  });
  let trailers: IncomingHttpHeaders = {};
  passed.on('trailers', (last: IncomingHttpHeaders) => {
    trailers = last;
  });
  stream.on('wantTrailers', () => {
    stream.sendTrailers(trailers);
  });
  stream.pipe(passed).pipe(stream);
}
