import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

interface Place {
  host: string;
  port: number;
}

export type Wire = Awaited<ReturnType<typeof startWire>>;

/**
 * Starts a connection to an engine that can be made to fail.
 *
 * @param target port of the engine, with its host if that is another machine
 * @param at address to listen on; default: any port
 */
export async function startWire(
  target: number | Place,
  at: Place = { host: '127.0.0.1', port: 0 },
) {
  const { host, port } = typeof target === 'number' ? { host: '127.0.0.1', port: target } : target;
  const sockets = new Set<Socket>();
  let isHeld = false;
  const silent = new WeakSet<Socket>();
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      // Data that was sent before is still delivered.
      to.destroySoon();
    });
    from.on('data', (bytes) => {
      if (!silent.has(from)) to.write(bytes);
    });
    if (isHeld) from.pause();
  };
  const server = createServer((client) => {
    const engine = connect(port, host);
    join(client, engine);
    join(engine, client);
  });
  server.listen(at);
  await once(server, 'listening');
  /** Breaks every connection. */
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    /** Open connections stay open but pass no more bytes; new ones work. */
    swallow: () => {
      for (const socket of sockets) silent.add(socket);
    },
    /** Nothing passes, not even on new connections; traffic of that time arrives after `release`. */
    hold: () => {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release: () => {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
