import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

const read = (name: string): Buffer =>
  readFileSync(new URL(`certificates/${name}`, import.meta.url));

/** Paths of the certificates that the proxy and its clients use; valid for a hundred years. */
export const CERTIFICATES = {
  authority: new URL('certificates/ca.pem', import.meta.url).pathname,
  client: new URL('certificates/client.pem', import.meta.url).pathname,
  clientKey: new URL('certificates/client.key', import.meta.url).pathname,
} as const;

/** Serves a plain TCP server under TLS, to clients with a certificate only. */
export async function startTlsProxy(
  target: number,
): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<TLSSocket>();
  const server = createServer(
    {
      key: read('server.key'),
      cert: read('server.pem'),
      ca: read('ca.pem'),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (socket) => {
      sockets.add(socket);
      const behind = connect(target, '127.0.0.1');
      const end = (): void => {
        sockets.delete(socket);
        socket.destroy();
        behind.destroy();
      };
      for (const each of [socket, behind]) each.on('error', end).on('close', end);
      socket.pipe(behind).pipe(socket);
    },
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
