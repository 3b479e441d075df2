import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A stretch of wire to an engine that can fail. */
export interface Wire {
  port: number;
  /** Connections that are open stay so, but no byte passes them any more; new ones are let through. */
  swallow: () => void;
  /** Breaks every connection. */
  cut: () => void;
  close: () => void;
}

export async function startWire(target: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('data', (bytes) => {
      if (!silent.has(from)) to.write(bytes);
    });
  };
  const server = createServer((client) => {
    const engine = connect(target, '127.0.0.1');
    join(client, engine);
    join(engine, client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      for (const socket of sockets) silent.add(socket);
    },
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
