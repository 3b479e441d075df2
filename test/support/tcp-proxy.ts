import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

/** A connection that a test can cut at a given word. */
export interface TcpProxy {
  readonly port: number;
  target: () => number;
  retarget: (port: number) => void;
  /**
   * Holds all bytes back once a client sends this text for the nth time: `after` passes the text
   * and holds the answer, `before` holds the text itself. Resolves when the text has arrived.
   */
  holdAt: (text: string, when: 'before' | 'after', nth?: number) => Promise<void>;
  /** Does that to the one connection that sends the text, in the direction of what is held. */
  parkAt: (text: string, when: 'before' | 'after') => Promise<void>;
  /** Blocks all bytes on open connections without closing them; new connections pass. */
  swallow: () => void;
  /** Drops later messages of Redis to subscribers of matching channels. */
  loseMessages: (channel: RegExp) => void;
  lost: () => number;
  connections: () => number;
  /** Breaks every connection and drops held bytes. New connections pass. */
  cut: () => void;
  close: () => Promise<void>;
}

interface Trap {
  text: string;
  when: 'before' | 'after';
  left: number;
  isOfOne: boolean;
  sprung: () => void;
}

export async function startTcpProxy(first: number): Promise<TcpProxy> {
  let target = first;
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  /** Ends of parked messages. A client that waits too long sends them again over another connection. */
  const parked: Buffer[] = [];
  let trap: Trap | undefined;
  let isHolding = false;

  function passes(bytes: Buffer, client: Socket, upstream: Socket): boolean {
    if (isHolding) return false;
    if (parked.some((each) => bytes.includes(each))) {
      silent.add(client);
      return false;
    }
    if (trap === undefined || !bytes.includes(trap.text)) return true;
    trap.left -= 1;
    if (trap.left > 0) return true;
    const { text, when, isOfOne, sprung } = trap;
    if (isOfOne) {
      silent.add(when === 'after' ? upstream : client);
      // Later commands of the same piece may come in other pieces when they are sent again.
      const [begin, end] = [bytes.indexOf(text), bytes.indexOf('\r\n*', bytes.indexOf(text))];
      parked.push(bytes.subarray(begin, end < 0 ? undefined : end));
    } else isHolding = true;
    trap = undefined;
    sprung();
    return when === 'after';
  }

  let lostFrames: RegExp | undefined;
  let lost = 0;

  function withoutLost(bytes: Buffer): Buffer {
    if (lostFrames === undefined || !bytes.includes('smessage')) return bytes;
    const rest = bytes.toString('latin1').replace(lostFrames, () => {
      lost += 1;
      return '';
    });
    return Buffer.from(rest, 'latin1');
  }

  let made = 0;
  const server = createServer((client) => {
    made += 1;
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (!silent.has(client) && passes(bytes, client, upstream)) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!silent.has(upstream) && !isHolding) client.write(withoutLost(bytes));
    });
  });
  const { port } = await listen(server);
  return {
    port,
    target: () => target,
    retarget: (port) => {
      target = port;
    },
    holdAt: (text, when, nth = 1) =>
      new Promise((sprung) => {
        trap = { text, when, left: nth, isOfOne: false, sprung };
      }),
    parkAt: (text, when) =>
      new Promise((sprung) => {
        trap = { text, when, left: 1, isOfOne: true, sprung };
      }),
    loseMessages: ({ source }) => {
      const text = String.raw`\$\d+\r\n`;
      const frame = String.raw`[>*]3\r\n\$8\r\nsmessage\r\n${text}${source}\r\n${text}[^\r]*\r\n`;
      lostFrames = new RegExp(frame, 'g');
    },
    lost: () => lost,
    connections: () => made,
    swallow: () => {
      for (const socket of sockets) silent.add(socket);
    },
    cut: () => {
      trap = undefined;
      isHolding = false;
      parked.length = 0;
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
