import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signToken } from './people.js';
import { newSessionId, useProduct } from './product.js';

/** A server before another one that signs a user in: each request gets the header. */
export async function startSigningProxy(
  getTarget: () => string,
  authorization: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const target = new URL(incoming.url ?? '/', getTarget());
    const headers = { ...incoming.headers, host: target.host, authorization };
    // A connection of its own: one that is kept may be closed in the moment of its next request.
    const options = { method: incoming.method, headers, agent: false };
    const passed = request(target, options, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
      reply.on('error', () => outgoing.destroy());
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** A shared product as a user of this file sees it, in a tenant of its own that has nothing yet. */
export function useOwnUser(...roles: string[]): { readonly url: string } {
  const product = useProduct('accounts');
  let proxy: Awaited<ReturnType<typeof startSigningProxy>> | undefined;
  beforeAll(async () => {
    const token = await signToken(newSessionId(), newSessionId(), roles);
    proxy = await startSigningProxy(() => product.url, token);
  });
  afterAll(() => proxy?.close());
  return {
    get url() {
      return proxy?.url ?? '';
    },
  };
}
