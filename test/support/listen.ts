import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Closes the server and the connections of HTTP; a file's end does the same. */
  close: () => Promise<void>;
}

/** Lets a server listen on any free port of this machine until the end of the test file. */
export async function listen(server: Server): Promise<Listening> {
  // Only clients close idle connections: else one could close just as the next request comes.
  if (server instanceof HttpServer) server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    if (!(server instanceof HttpServer)) return;
    server.closeAllConnections();
    await closed;
  };
  atEndOfFile(close);
  return { host: '127.0.0.1', port, url: `http://127.0.0.1:${String(port)}`, close };
}
