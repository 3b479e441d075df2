import { readFileSync } from 'node:fs';
import {
  connect,
  createSecureServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { listen } from './listen.js';

const read = (name: string): Buffer =>
  readFileSync(new URL(`certificates/${name}`, import.meta.url));

/** Paths of the server's and the clients' certificates, which are valid for a hundred years. */
export const CERTIFICATES = {
  authority: new URL('certificates/ca.pem', import.meta.url).pathname,
  client: new URL('certificates/client.pem', import.meta.url).pathname,
  clientKey: new URL('certificates/client.key', import.meta.url).pathname,
} as const;

/** A Temporal behind TLS that demands client certificates and an API key, as Temporal Cloud can. */
export interface SecuredTemporal {
  readonly port: number;
  /** Calls whose headers named no namespace; Temporal Cloud needs one to route them. */
  readonly unrouted: ReadonlySet<string>;
  /** Accepts only this key from now on; running calls fail at their next request. */
  accept: (key: string) => void;
  close: () => Promise<void>;
}

/** Calls that concern the server and no namespace. */
const OF_SERVER = /\/(?:GetSystemInfo|GetClusterInfo|Check)$/;

/** Serves a plain Temporal over TLS to clients with a certificate and the API key. */
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
  // A client without a certificate causes this error.
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
  const { port } = await listen(server);
  return {
    port,
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

/** Refuses a call as Temporal Cloud does for a wrong or expired key. */
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
    // Bit 1 of the flags marks a reply of trailers only.
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
