import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type CryptoKey } from 'jose';

export interface Issuer {
  url: string;
  /** What it publishes; undefined: an error. */
  keys: { kid: string; key: CryptoKey }[] | undefined;
  asked: number;
  /** Bytes beside them. */
  padding: number;
  close: () => Promise<void>;
}

/** Publishes keys, as an identity provider does. */
export async function startIssuer(): Promise<Issuer> {
  const server: Server = createServer((_request, response) => {
    issuing.asked += 1;
    const { keys } = issuing;
    if (keys === undefined) {
      response.writeHead(500).end('broken');
      return;
    }
    void Promise.all(keys.map(async ({ kid, key }) => ({ ...(await exportJWK(key)), kid }))).then(
      (published) =>
        response.end(JSON.stringify({ keys: published, padding: ' '.repeat(issuing.padding) })),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuing: Issuer = {
    url: `http://127.0.0.1:${String(port)}/keys`,
    keys: [],
    asked: 0,
    padding: 0,
    close: async () => {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
  return issuing;
}
