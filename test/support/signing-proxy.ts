import { createServer, request } from 'node:http';
import { listen, type Listening } from './listen.js';
import { signToken } from './people.js';
import { newSessionId } from './product.js';

/** Starts a proxy that signs a user in by adding a header to each request. */
export async function startSigningProxy(
  getTarget: () => string,
  authorization: string,
): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    const target = new URL(incoming.url ?? '/', getTarget());
    const headers = { ...incoming.headers, host: target.host, authorization };
    // Each request opens a connection, since a kept-alive one could close just then.
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
  return listen(server);
}

/** Returns a product with accounts as a user of this file sees it, in a new and empty tenant. */
export function useOwnUser(
  product: { readonly url: string },
  ...roles: string[]
): {
  readonly url: string;
  user: string;
  tenant: string;
} {
  const [user, tenant] = [newSessionId(), newSessionId()];
  let proxy: Listening | undefined;
  beforeAll(async () => {
    proxy = await startSigningProxy(() => product.url, await signToken(user, tenant, roles));
  });
  return {
    user,
    tenant,
    get url() {
      return proxy?.url ?? '';
    },
  };
}
